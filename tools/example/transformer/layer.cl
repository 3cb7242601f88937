// The steps of a transformer's layer between its products. Half is storage only, so that no extension is needed.
#define ITEMS 64  // of a work-group
#define LOAD(pointer, i) vload_half(i, pointer)
#define STORE(value, pointer, i) vstore_half_rte(value, i, pointer)

// The sum of `value` over the work-group.
float sum_of_all(float value, local float* sums) {
  const int item = (int)get_local_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);
  sums[item] = value;
  for (int half_of = ITEMS / 2; half_of > 0; half_of /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < half_of) sums[item] += sums[item + half_of];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return sums[0];
}

// y = x / sqrt(mean(x^2) + 1e-5) * gain. A work-group for each row.
kernel void norm(global const half* x, global const half* gain, global half* y, const int width) {
  local float sums[ITEMS];
  const int item = (int)get_local_id(0);
  x += get_group_id(0) * width;
  y += get_group_id(0) * width;
  float squares = 0;
  for (int i = item; i < width; i += ITEMS) squares += LOAD(x, i) * LOAD(x, i);
  const float factor = rsqrt(sum_of_all(squares, sums) / width + 1e-5f);
  for (int i = item; i < width; i += ITEMS) STORE(LOAD(x, i) * factor * LOAD(gain, i), y, i);
}

// Causal attention: a work-group for each row and head. A row of qkv has q, k and v, each of all heads, one after the
// other; no more than ITEMS rows.
kernel void attend(global const half* qkv, global half* y, const int width, const int head_width) {
  local float sums[ITEMS], weights[ITEMS];
  const int item = (int)get_local_id(0), row = (int)get_group_id(0), first = (int)get_group_id(1) * head_width;
  global const half* q = qkv + row * 3 * width + first;
  global const half* k = qkv + item * 3 * width + width + first;
  float score = -INFINITY;
  if (item <= row) {
    score = 0;
    for (int i = 0; i < head_width; ++i) score += LOAD(q, i) * LOAD(k, i);
  }
  weights[item] = score * rsqrt((float)head_width);
  barrier(CLK_LOCAL_MEM_FENCE);
  float largest = weights[0];
  for (int p = 1; p <= row; ++p) largest = max(largest, weights[p]);
  const float weight = item <= row ? exp(weights[item] - largest) : 0;
  const float total = sum_of_all(weight, sums);
  weights[item] = weight / total;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = item; i < head_width; i += ITEMS) {
    float sum = 0;
    for (int p = 0; p <= row; ++p) sum += weights[p] * LOAD(qkv, p * 3 * width + 2 * width + first + i);
    STORE(sum, y, row * width + first + i);
  }
}

// y = silu(gate) * up. A row of gate_up has all of gate, then all of up.
kernel void gate(global const half* gate_up, global half* y, const int hidden) {
  const int i = (int)get_global_id(0), row = i / hidden, column = i % hidden;
  const float x = LOAD(gate_up, row * 2 * hidden + column), up = LOAD(gate_up, row * 2 * hidden + hidden + column);
  STORE(x / (1 + exp(-x)) * up, y, i);
}
