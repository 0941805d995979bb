/* Matrix product C += A B of N x N doubles in blocks, packed as BLAS libraries do it.

   Compile with -DMC= -DKC= -DNC= (block sizes), -DMR= -DNV= -DVL= (a register block of MR rows and
   NV vectors of VL doubles), -DUNROLL= (steps of the inner loop). The packed blocks are on the
   stack. Prints the seconds of the fastest of up to 20 products, or exits with 1 if the product is
   wrong. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#ifndef N
#define N 480
#endif
#define NR (NV * VL)
#define UP(n, step) (((n) + (step) - 1) / (step) * (step))
#define LEAST(a, b) ((a) < (b) ? (a) : (b))
#define DO_PRAGMA(x) _Pragma(#x)
#define UNROLLED(n) DO_PRAGMA(GCC unroll n)

typedef double vec __attribute__((vector_size(8 * VL), aligned(8)));

/* Not static: the compiler may not move or drop a product between two looks at the clock. */
double a[N * N], b[N * N], c[N * N];

/* A register block of C: k steps of MR x NR products. */
static void multiply(int k, const double *pa, const double *pb, double *block, int rows, int columns)
{
    vec sum[MR][NV] = {0};
    UNROLLED(UNROLL)
    for (int p = 0; p < k; p++)
        for (int i = 0; i < MR; i++)
            for (int j = 0; j < NV; j++)
                sum[i][j] += pa[p * MR + i] * ((const vec *)(pb + p * NR))[j];
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            block[i * N + j] += sum[i][j / VL][j % VL];
}

static void pack_a(int i0, int p0, int m, int k, double *packed)
{
    for (int i = 0; i < m; i += MR)
        for (int p = 0; p < k; p++)
            for (int r = 0; r < MR; r++)
                *packed++ = i + r < m ? a[(i0 + i + r) * N + p0 + p] : 0;
}

static void pack_b(int p0, int j0, int k, int n, double *packed)
{
    for (int j = 0; j < n; j += NR)
        for (int p = 0; p < k; p++)
            for (int r = 0; r < NR; r++)
                *packed++ = j + r < n ? b[(p0 + p) * N + j0 + j + r] : 0;
}

__attribute__((noinline)) static void gemm(void)
{
    double packed_a[UP(MC, MR) * KC], packed_b[KC * UP(NC, NR)];
    for (int j0 = 0; j0 < N; j0 += NC)
        for (int p0 = 0; p0 < N; p0 += KC) {
            int n = LEAST(NC, N - j0), k = LEAST(KC, N - p0);
            pack_b(p0, j0, k, n, packed_b);
            for (int i0 = 0; i0 < N; i0 += MC) {
                int m = LEAST(MC, N - i0);
                pack_a(i0, p0, m, k, packed_a);
                for (int j = 0; j < n; j += NR)
                    for (int i = 0; i < m; i += MR)
                        multiply(k, packed_a + i * k, packed_b + j * k,
                                 c + (i0 + i) * N + j0 + j, LEAST(MR, m - i), LEAST(NR, n - j));
            }
        }
}

static int is_right(void)
{
    for (int i = 0; i < N; i += 37)
        for (int j = 0; j < N; j += 41) {
            double sum = 0;
            for (int p = 0; p < N; p++)
                sum += a[i * N + p] * b[p * N + j];
            if (fabs(sum - c[i * N + j]) > 1e-9)
                return 0;
        }
    return 1;
}

int main(void)
{
    unsigned state = 1;
    for (int i = 0; i < N * N; i++) {
        a[i] = (state = state * 1664525u + 1013904223u) / 4294967296.0 - 0.5;
        b[i] = (state = state * 1664525u + 1013904223u) / 4294967296.0 - 0.5;
    }
    double fastest = INFINITY, spent = 0;
    for (int r = 0; r < 3 || (r < 20 && spent < 0.5); r++) {
        struct timespec begin, end;
        memset(c, 0, sizeof c);
        /* The fastest by the wall clock had the core for itself; processor time moves in ticks. */
        clock_gettime(CLOCK_MONOTONIC, &begin);
        gemm();
        clock_gettime(CLOCK_MONOTONIC, &end);
        double seconds = end.tv_sec - begin.tv_sec + 1e-9 * (end.tv_nsec - begin.tv_nsec);
        fastest = LEAST(fastest, seconds);
        spent += seconds;
    }
    if (!is_right())
        return 1;
    printf("%.9f\n", fastest);
    return 0;
}
