// One layer as textbooks write it, with tiles in local memory: result = x * weights + bias, and its maximum with 0 if
// `relu`. A work-item computes one element; work-groups are TILE x TILE, and rows are a multiple of TILE.
#define TILE 16

__kernel void dense(__global const float* x, __global const float* weights, __global const float* bias,
                    __global float* result, int inputs, int outputs, int relu) {
  __local float x_tile[TILE][TILE], weight_tile[TILE][TILE];
  const int column = get_global_id(0), row = get_global_id(1);
  const int i = get_local_id(0), j = get_local_id(1);
  float sum = 0;
  for (int k = 0; k < inputs; k += TILE) {
    x_tile[j][i] = k + i < inputs ? x[row * inputs + k + i] : 0.0f;
    weight_tile[j][i] = k + j < inputs && column < outputs ? weights[(k + j) * outputs + column] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int n = 0; n < TILE; ++n) sum += x_tile[j][n] * weight_tile[n][i];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (column < outputs) {
    sum += bias[column];
    result[row * outputs + column] = relu ? fmax(sum, 0.0f) : sum;
  }
}
