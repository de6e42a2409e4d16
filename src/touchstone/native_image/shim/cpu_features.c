/* Which instructions the processor has (Intel SDM, volume 2A, CPUID).
 *
 * The answer chooses between code paths, so a feature that is not asked about here is one that is not used: 0 is always
 * safe. AVX-512 and what comes with it are left out on purpose. */
#include <cpuid.h>
#include <string.h>

#include "amd64cpufeatures.h"

static char bit(unsigned word, int number) { return (char)(word >> number & 1); }

/* Whether the kernel saves the upper halves of the AVX registers (XCR0, bits 1 and 2). */
static char saves_avx(unsigned ecx) {
    if (!bit(ecx, 27)) return 0;
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & 6U) == 6U;
}

static void read_leaf_1(CPUFeatures *has) {
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return;
    has->fTSC = bit(d, 4), has->fCX8 = bit(d, 8), has->fCMOV = bit(d, 15), has->fFLUSH = bit(d, 19);
    has->fMMX = bit(d, 23), has->fFXSR = bit(d, 24), has->fSSE = bit(d, 25), has->fSSE2 = bit(d, 26);
    has->fHT = bit(d, 28);
    has->fSSE3 = bit(c, 0), has->fCLMUL = bit(c, 1), has->fSSSE3 = bit(c, 9), has->fSSE4_1 = bit(c, 19);
    has->fSSE4_2 = bit(c, 20), has->fPOPCNT = bit(c, 23), has->fAES = bit(c, 25), has->fHV = bit(c, 31);
    has->fAVX = saves_avx(c) && bit(c, 28);
    has->fFMA = has->fAVX && bit(c, 12);
    has->fVZEROUPPER = has->fAVX;
}

static void read_leaf_7(CPUFeatures *has) {
    unsigned a, b, c, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return;
    has->fBMI1 = bit(b, 3), has->fBMI2 = bit(b, 8), has->fERMS = bit(b, 9), has->fADX = bit(b, 19);
    has->fFLUSHOPT = bit(b, 23), has->fCLWB = bit(b, 24), has->fSHA = bit(b, 29);
    has->fAVX2 = has->fAVX && bit(b, 5);
}

static void read_extended_leaves(CPUFeatures *has) {
    unsigned a, b, c, d;
    if (__get_cpuid(0x80000001, &a, &b, &c, &d)) {
        has->fLZCNT = bit(c, 5), has->fSSE4A = bit(c, 6), has->fAMD_3DNOW_PREFETCH = bit(c, 8);
        has->fRDTSCP = bit(d, 27);
    }
    if (__get_cpuid(0x80000007, &a, &b, &c, &d)) has->fTSCINV = has->fTSCINV_BIT = bit(d, 8);
}

void determineCPUFeatures(CPUFeatures *has) {
    memset(has, 0, sizeof *has);
    read_leaf_1(has);
    read_leaf_7(has);
    read_extended_leaves(has);
}

/* An image asks at its start whether the processor has what its code was compiled for. Images here run on the machine
 * that built them, so the answer is yes; on an older processor such an image ends by SIGILL, without a message. */
int checkCPUFeatures(char *needed) {
    (void)needed;
    return 0;
}
int checkCPUFeaturesOrExit(char *needed, char *message) {
    (void)needed;
    (void)message;
    return 0;
}
