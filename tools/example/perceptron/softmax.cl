// Each row becomes exp(x) / (sum of exp(x)); a work-item computes one row.
__kernel void softmax(__global float* values, int columns) {
  __global float* row = values + get_global_id(0) * (size_t)columns;
  float largest = row[0];
  for (int i = 1; i < columns; ++i) largest = fmax(largest, row[i]);
  float sum = 0;
  for (int i = 0; i < columns; ++i) {
    row[i] = exp(row[i] - largest);
    sum += row[i];
  }
  for (int i = 0; i < columns; ++i) row[i] /= sum;
}
