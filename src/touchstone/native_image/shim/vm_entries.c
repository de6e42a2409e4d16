/* Entry points of a virtual machine (jvm.h of OpenJDK) that the JDK's C libraries call in an image.
 *
 * In a JDK libjvm.so has them. Most of the others belong to native methods that an image replaces by Java code of its
 * own, so that nothing calls them: see vm_missing.c. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <jni.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* --- The machine and its clocks --- */

jint JVM_ActiveProcessorCount(void) {
    cpu_set_t ours;
    if (sched_getaffinity(0, sizeof ours, &ours) == 0) return CPU_COUNT(&ours);
    return (jint)sysconf(_SC_NPROCESSORS_ONLN);
}

static struct timespec now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time;
}

jlong JVM_NanoTime(JNIEnv *env, jclass ignored) {
    struct timespec time = now(CLOCK_MONOTONIC);
    return (jlong)time.tv_sec * 1000000000 + time.tv_nsec;
}

jlong JVM_CurrentTimeMillis(JNIEnv *env, jclass ignored) {
    struct timespec time = now(CLOCK_REALTIME);
    return (jlong)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* Nanoseconds since `offset` seconds after 1970; -1 if they are beyond a range in which they cannot overflow. */
jlong JVM_GetNanoTimeAdjustment(JNIEnv *env, jclass ignored, jlong offset) {
    struct timespec time = now(CLOCK_REALTIME);
    jlong seconds = time.tv_sec - offset;
    if (seconds > INT32_MAX || seconds < INT32_MIN) return -1;
    return seconds * 1000000000 + time.tv_nsec;
}

/* These classes register their natives with a virtual machine by name; an image links them by JNI's names. */
jlong Java_java_lang_System_nanoTime(JNIEnv *env, jclass type) { return JVM_NanoTime(env, type); }
jlong Java_java_lang_System_currentTimeMillis(JNIEnv *env, jclass type) { return JVM_CurrentTimeMillis(env, type); }
jlong Java_jdk_internal_misc_VM_getNanoTimeAdjustment(JNIEnv *env, jclass type, jlong offset) {
    return JVM_GetNanoTimeAdjustment(env, type, offset);
}

/* --- Locks of the C libraries: libzip's, recursive as HotSpot's are --- */

void *JVM_RawMonitorCreate(void) {
    pthread_mutex_t *lock = malloc(sizeof *lock);
    pthread_mutexattr_t attributes;
    if (lock == NULL) return NULL;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return lock;
}
void JVM_RawMonitorDestroy(void *lock) {
    pthread_mutex_destroy(lock);
    free(lock);
}
jint JVM_RawMonitorEnter(void *lock) { return pthread_mutex_lock(lock); }
void JVM_RawMonitorExit(void *lock) { pthread_mutex_unlock(lock); }

/* --- Shared libraries, such as SQLite's --- */

void *JVM_LoadLibrary(const char *path, jboolean throw_on_failure) { return dlopen(path, RTLD_LAZY); }
void JVM_UnloadLibrary(void *library) { dlclose(library); }
void *JVM_FindLibraryEntry(void *library, const char *name) { return dlsym(library, name); }
jboolean JVM_IsSupportedJNIVersion(jint version) { return JNI_TRUE; }

/* --- What an image answers in a fixed way --- */

jint JVM_GetInterfaceVersion(void) { return 6; }
/* Limits of a container are not looked at: the builder's own library for that is not on Maven Central. */
jboolean JVM_IsUseContainerSupport(void) { return JNI_FALSE; }
jboolean JVM_IsContainerized(void) { return JNI_FALSE; }
jlong JVM_TotalMemory(void) { return 0; }
jlong JVM_FreeMemory(void) { return 0; }
jlong JVM_MaxMemory(void) { return INT64_MAX; }
void JVM_GC(void) {}
void JVM_BeforeHalt(void) {}
void JVM_Halt(jint code) { exit(code); }
char *JVM_NativePath(char *path) { return path; }
/* The image's start calls it before anything else of the libraries. */
int initialize(void) { return 0; }

/* --- Formatted output, which has to end with a NUL whatever the size (jvm_io.h) --- */

int jio_vsnprintf(char *into, size_t size, const char *format, va_list values) {
    if ((long)size <= 0) return -1;
    int length = vsnprintf(into, size, format, values);
    if (length >= 0 && (size_t)length < size) return length;
    into[size - 1] = '\0';
    return -1;
}
int jio_snprintf(char *into, size_t size, const char *format, ...) {
    va_list values;
    va_start(values, format);
    int length = jio_vsnprintf(into, size, format, values);
    va_end(values);
    return length;
}
int jio_vfprintf(FILE *stream, const char *format, va_list values) { return vfprintf(stream, format, values); }
int jio_fprintf(FILE *stream, const char *format, ...) {
    va_list values;
    va_start(values, format);
    int length = vfprintf(stream, format, values);
    va_end(values);
    return length;
}
