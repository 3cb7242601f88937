#!/usr/bin/env python3
"""Writes a model of the shape of whisper.cpp's tiny.en with random weights of 16 bits, in the format that whisper.cpp
1.6 reads: for timing, as it understands no speech. Usage: whisper_model.py FILE (needs numpy)"""
import struct
import sys

import numpy as np

VOCABULARY, WORDS, MELS, FILTER = 51864, 50257, 80, 201
AUDIO_CONTEXT, TEXT_CONTEXT, STATE, HEADS, LAYERS = 1500, 448, 384, 6, 4
SCALE = 0.03

random = np.random.default_rng(1)


class Model:
    def __init__(self, path):
        self.file = open(path, "wb")

    def numbers(self, *values):
        self.file.write(struct.pack(f"{len(values)}i", *values))

    def text(self, text):
        self.numbers(len(text))
        self.file.write(text.encode())

    def tensor(self, name, shape, scale=SCALE, single=False):
        """Vectors are single precision, matrices half unless `single`."""
        values = (random.standard_normal(shape) * scale).astype("f4")
        half = len(shape) > 1 and not single
        self.numbers(len(shape), len(name), int(half), *reversed(shape))
        self.file.write(name.encode())
        self.file.write((values.astype("f2") if half else values).tobytes())

    def layer(self, name, rows, columns, bias=True):
        self.tensor(name + ".weight", (rows, columns))
        if bias:
            self.tensor(name + ".bias", (rows,))

    def norm(self, name):
        self.tensor(name + ".weight", (STATE,), 1)
        self.tensor(name + ".bias", (STATE,))

    def block(self, prefix, attentions):
        for attention in attentions:
            self.norm(f"{prefix}{attention}_ln")
            for part in ("query", "value", "out"):
                self.layer(f"{prefix}{attention}.{part}", STATE, STATE)
            self.layer(f"{prefix}{attention}.key", STATE, STATE, bias=False)
        self.norm(prefix + "mlp_ln")
        self.layer(prefix + "mlp.0", 4 * STATE, STATE)
        self.layer(prefix + "mlp.2", STATE, 4 * STATE)


model = Model(sys.argv[1])
model.numbers(0x67676D6C, VOCABULARY, AUDIO_CONTEXT, STATE, HEADS, LAYERS, TEXT_CONTEXT, STATE, HEADS, LAYERS, MELS, 1)
model.numbers(MELS, FILTER)
model.file.write((np.abs(random.standard_normal((MELS, FILTER))) * 0.01).astype("f4").tobytes())
model.numbers(WORDS)
for word in range(WORDS):
    model.text(f"t{word}")
model.tensor("encoder.positional_embedding", (AUDIO_CONTEXT, STATE), 0.1, single=True)
for number, channels in (1, MELS), (2, STATE):
    model.tensor(f"encoder.conv{number}.weight", (STATE, channels, 3))
    model.tensor(f"encoder.conv{number}.bias", (STATE, 1), single=True)
model.norm("encoder.ln_post")
for i in range(LAYERS):
    model.block(f"encoder.blocks.{i}.", ["attn"])
model.tensor("decoder.positional_embedding", (TEXT_CONTEXT, STATE), 0.1, single=True)
model.tensor("decoder.token_embedding.weight", (VOCABULARY, STATE))
model.norm("decoder.ln")
for i in range(LAYERS):
    model.block(f"decoder.blocks.{i}.", ["attn", "cross_attn"])
model.file.close()
