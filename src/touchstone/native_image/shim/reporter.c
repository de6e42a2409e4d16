/* A library for the image builder itself: what its progress report asks the system for. */
#include <jni.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

/* The builder's peak resident memory in bytes, or -1; the kernel counts in KiB (getrusage(2)). */
JNIEXPORT jlong JNICALL Java_com_oracle_svm_hosted_ProgressReporterCHelper_getPeakRSS0(JNIEnv *env, jclass type) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (jlong)usage.ru_maxrss * 1024 : -1;
}

/* The terminal's width; 80 if there is none. */
JNIEXPORT jint JNICALL Java_com_oracle_svm_hosted_ProgressReporterCHelper_getTerminalWindowColumns0(JNIEnv *env,
                                                                                                   jclass type) {
    struct winsize size;
    return ioctl(STDIN_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}
