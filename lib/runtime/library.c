#include "runtime/library.h"

#include <dlfcn.h>
#include <string.h>

#include "support/error.h"

bool
onnxl_library_load(const char *soname, const char *const *names, size_t n, void *ret_functions, GError **error)
{
  void *library = dlopen(soname, RTLD_LAZY | RTLD_LOCAL);

  if (!library)
    return onnxl_fail(error, ONNXL_ERROR_UNSUPPORTED, "a library is needed that cannot be loaded: %s", dlerror());
  for (size_t i = 0; i < n; i++) {
    void *function = dlsym(library, names[i]);
    if (!function)
      return onnxl_fail(error, ONNXL_ERROR_UNSUPPORTED, "the library %s has no %s", soname, names[i]);
    memcpy((char *)ret_functions + i * sizeof function, &function, sizeof function);
  }
  return true;
}
