// terms: of a mixed product of integers. What the zero points z of A and w of B change in its sums, so that the kernels
// may multiply as if there were none:
//
//     sum (a - z) (b - w)  =  sum a b  -  w sum a  +  k z w  -  z sum b
//                                        row_terms           column_terms
//
// Grid: x = 64 lines of op(A) (rows) or op(B) (columns), z = product.
#if SUMS_INTEGERS
#define TERMS_ITEMS 64

// Defines a kernel. operand_name: a or b; place: its place among a product's three offsets; lines: m or n; step: from a
// line to the next; step_p: along k; factor: of the sum of a line; more: to be added.
#define TERMS_KERNEL(name, operand_name, place, lines, step, step_p, type, term)                                 \
  __kernel __attribute__((reqd_work_group_size(TERMS_ITEMS, 1, 1))) void name(                                   \
      __global const operand* source, __global int* terms, __global const ulong* offsets, const Numbers numbers, \
      const Quantization quantization) {                                                                         \
    const int k = numbers.k;                                                                                     \
    const size_t line = get_global_id(0);                                                                        \
    if (line >= (size_t)numbers.lines) return;                                                                   \
    const ulong number = get_group_id(2) + numbers.first_product;                                                \
    source += numbers.operand_name##_offset +                                                                    \
              (offsets ? LISTED(number, place) : number * numbers.operand_name##_stride) + line * (ulong)(step); \
    int sum = 0;                                                                                                 \
    for (int p = 0; p < k; ++p) sum += LOAD_OPERAND(source + p * (ulong)(step_p), type);                         \
    terms[get_group_id(2) * numbers.lines + line] = term;                                                        \
  }
TERMS_KERNEL(clbake_row_terms, a, 0, m, TRANS_A ? 1 : numbers.lda, TRANS_A ? numbers.lda : 1, A_TYPE,
             quantization.zero_b*(k* quantization.zero_a - sum))
TERMS_KERNEL(clbake_column_terms, b, 1, n, TRANS_B ? numbers.ldb : 1, TRANS_B ? 1 : numbers.ldb, B_TYPE,
             -quantization.zero_a* sum)
#endif
