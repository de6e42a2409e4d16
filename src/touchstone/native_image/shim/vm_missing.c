/* The entry points of a virtual machine that are named by the JDK's C libraries and written nowhere.
 *
 * The linker wants them, and no image calls them: the native methods that would are replaced by the builder. If one is
 * called after all, its name is the last thing that the program says. */
#include <stdio.h>
#include <stdlib.h>

static _Noreturn void missing(const char *name) {
    fprintf(stderr, "this image needs %s, which an assembled native-image lacks\n", name);
    abort();
}

#define MISSING(name) \
    void name(void) { missing(#name); }

#include "vm_missing.h"
