#include <clbake/weights/pack.h>
#include <clbake/weights/pack.hpp>

#include "c/c_api.hpp"

#include <cstring>

using namespace clbake::c;

namespace {

using clbake::Elements;
using clbake::PackedWeights;
using clbake::Result;
using clbake::Status;

clbake::WeightFormat format_of(const clbake_weight_format* format) {
  const clbake_weight_format& from = *given(format, "format");
  check_size(from.struct_size, sizeof from, "format");
  return {from.k, from.n, from.bits, from.group, from.has_zeros != 0};
}

template <typename T>
Elements<T> elements(const void* first, std::size_t count, const char* name) {
  if (count > 0) given(first, name);
  return {static_cast<const T*>(first), count};
}

Status copy(const Result<PackedWeights>& from, void* to, std::size_t size) {
  if (!from) return from.status();
  given(to, "packed", clbake::Argument::output);
  if (from->size() != size) {
    return {clbake::Argument::output,
            "packed has " + std::to_string(size) + " bytes, not " + std::to_string(from->size())};
  }
  std::memcpy(to, from->data(), size);
  return {};
}

// GPTQ and AWQ have 4 bits and zero points.
Status check_words(const clbake::WeightFormat& format) {
  if (format.bits == 4 && format.has_zeros) return {};
  return {clbake::Argument::other, "format: such weights have 4 bits and zero points"};
}

}  // namespace

clbake_code clbake_weights_bytes(const clbake_weight_format* format, std::size_t* bytes, clbake_error* error) {
  return run(error, [&]() -> Status {
    const clbake::WeightFormat known = format_of(format);
    given(bytes, "bytes", clbake::Argument::output);
    const Status possible = check_weight_format(known);
    if (possible) *bytes = weight_bytes(known);
    return possible;
  });
}

clbake_code clbake_weights_pack(const clbake_weight_format* format, const std::uint8_t* codes, std::size_t code_count,
                                const std::uint16_t* scales, std::size_t scale_count, const std::uint8_t* zeros,
                                std::size_t zero_count, void* packed, std::size_t packed_size, clbake_error* error) {
  return run(error, [&] {
    return copy(pack_weights(format_of(format), elements<std::uint8_t>(codes, code_count, "codes"),
                             elements<std::uint16_t>(scales, scale_count, "scales"),
                             elements<std::uint8_t>(zeros, zero_count, "zeros")),
                packed, packed_size);
  });
}

clbake_code clbake_weights_quantize(const clbake_weight_format* format, const float* weights, std::size_t count,
                                    void* packed, std::size_t packed_size, clbake_error* error) {
  return run(error, [&] {
    return copy(quantize_weights(format_of(format), elements<float>(weights, count, "weights")), packed, packed_size);
  });
}

clbake_code clbake_weights_inspect(const void* packed, std::size_t packed_size, clbake_weight_format* format,
                                   clbake_error* error) {
  return run(error, [&]() -> Status {
    check_size(given(format, "format", clbake::Argument::output)->struct_size, sizeof *format, "format", true);
    const Result<clbake::WeightFormat> found =
        clbake::weight_format(elements<std::uint8_t>(packed, packed_size, "packed"));
    if (!found) return found.status();
    *format = {format->struct_size, found->k, found->n, found->bits, found->group, found->has_zeros ? 1 : 0};
    return {};
  });
}

clbake_code clbake_weights_unpack(const void* packed, std::size_t packed_size, float* weights, std::size_t count,
                                  clbake_error* error) {
  return run(error, [&]() -> Status {
    const Result<std::vector<float>> found =
        clbake::unpack_weights(elements<std::uint8_t>(packed, packed_size, "packed"));
    if (!found) return found.status();
    given(weights, "weights", clbake::Argument::output);
    if (found->size() != count) {
      return {clbake::Argument::output,
              "weights has " + std::to_string(count) + " elements, not " + std::to_string(found->size())};
    }
    std::copy(found->begin(), found->end(), weights);
    return {};
  });
}

clbake_code clbake_weights_pack_gguf(const clbake_weight_format* format, const void* blocks, std::size_t size,
                                     void* packed, std::size_t packed_size, clbake_error* error) {
  return run(error, [&]() -> Status {
    const clbake::WeightFormat known = format_of(format);
    if (known.group != 32 || known.has_zeros) {
      return {clbake::Argument::other, "format: GGUF's blocks are groups of 32 without zero points"};
    }
    return copy(pack_gguf(known.bits, known.k, known.n, elements<std::uint8_t>(blocks, size, "blocks")), packed,
                packed_size);
  });
}

clbake_code clbake_weights_pack_gptq(const clbake_weight_format* format, const std::uint32_t* qweight,
                                     std::size_t weight_count, const std::uint32_t* qzeros, std::size_t zero_count,
                                     const std::uint16_t* scales, std::size_t scale_count, int minus_one, void* packed,
                                     std::size_t packed_size, clbake_error* error) {
  return run(error, [&]() -> Status {
    const clbake::WeightFormat known = format_of(format);
    if (const Status words = check_words(known); !words) return words;
    return copy(pack_gptq(known.k, known.n, known.group, elements<std::uint32_t>(qweight, weight_count, "qweight"),
                          elements<std::uint32_t>(qzeros, zero_count, "qzeros"),
                          elements<std::uint16_t>(scales, scale_count, "scales"), minus_one != 0),
                packed, packed_size);
  });
}

clbake_code clbake_weights_pack_awq(const clbake_weight_format* format, const std::uint32_t* qweight,
                                    std::size_t weight_count, const std::uint32_t* qzeros, std::size_t zero_count,
                                    const std::uint16_t* scales, std::size_t scale_count, void* packed,
                                    std::size_t packed_size, clbake_error* error) {
  return run(error, [&]() -> Status {
    const clbake::WeightFormat known = format_of(format);
    if (const Status words = check_words(known); !words) return words;
    return copy(pack_awq(known.k, known.n, known.group, elements<std::uint32_t>(qweight, weight_count, "qweight"),
                         elements<std::uint32_t>(qzeros, zero_count, "qzeros"),
                         elements<std::uint16_t>(scales, scale_count, "scales")),
                packed, packed_size);
  });
}
