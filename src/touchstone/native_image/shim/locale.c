/* The user's locale and time zone. */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "svm_locale.h"

enum { LONGEST = 8 }; /* A language or country subtag has at most 8 characters (RFC 5646, 2.1). */

static svm_locale_props_t properties;
static char language[LONGEST + 1] = "en";
static char country[LONGEST + 1];

/* Copies the part of `text` before any of `ends`; what does not fit is not a subtag, and leaves `into` as it is. */
static void copy_subtag(char *into, const char *text, const char *ends) {
    size_t length = strcspn(text, ends);
    if (length == 0 || length > LONGEST) return;
    memcpy(into, text, length);
    into[length] = '\0';
}

static const char *wanted_locale(void) {
    const char *names[] = {"LC_ALL", "LC_MESSAGES", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value != NULL && *value != '\0') return value;
    }
    return "C";
}

/* Language and country of a name such as de_AT.UTF-8; English for C and POSIX, as the JDK has it. */
int svm_initialize_locale(void) {
    setlocale(LC_ALL, "");
    const char *wanted = wanted_locale();
    int is_c = strcmp(wanted, "C") == 0 || strncmp(wanted, "C.", 2) == 0 || strcmp(wanted, "POSIX") == 0;
    if (!is_c) {
        copy_subtag(language, wanted, "_.@");
        const char *mark = strchr(wanted, '_');
        if (mark != NULL) copy_subtag(country, mark + 1, ".@");
    }
    properties.display_language = properties.format_language = language;
    properties.display_country = properties.format_country = *country != '\0' ? country : NULL;
    return SVM_LOCALE_INITIALIZATION_SUCCEEDED;
}

svm_locale_props_t *svm_get_locale(void) { return &properties; }

/* libjava finds the zone by TZ, /etc/timezone and /etc/localtime. */
extern char *findJavaTZ_md(const char *java_home);

char *SVM_FindJavaTZmd(const char *mappings, int length) {
    (void)mappings; /* Windows alone has a table of them. */
    (void)length;
    return findJavaTZ_md("");
}
