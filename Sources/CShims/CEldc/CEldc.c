#include "CEldc.h"

#include <dlfcn.h>
#include <stddef.h>

const char *celdc_open(const char *path, int scores, celdc_functions *functions) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return dlerror();
    void (*init)(void) = (void (*)(void))dlsym(library, "eldc_init");
    void (*set_scores)(int) = (void (*)(int))dlsym(library, "eldc_set_scores");
    functions->detect = (void (*)(const char *, celdc_result *))dlsym(library, "eldc_detect_details");
    if (init == NULL || set_scores == NULL || functions->detect == NULL) {
        dlclose(library);
        return "it is not the library of ELD-C: eldc_init, eldc_set_scores or eldc_detect_details is missing";
    }
    init();
    set_scores(scores);
    return NULL;
}
