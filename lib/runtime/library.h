/* Libraries that few runs need are loaded by the first that does, so that all others start without them. The program's
 * note .note.dlopen names them, which is where tools that make packages look for such dependencies (UAPI group, "ELF
 * dlopen metadata").
 *
 *   #define FUNCTIONS(F) F(zip_fread) F(zip_fclose)
 *   ONNXL_LIBRARY("zip", ONNXL_SONAME_ZIP, "reading .npz archives", FUNCTIONS)
 *
 * declares load_library(), and behind it the functions are lib.zip_fread() and so on, with the types of the header. */
#ifndef ONNXL_RUNTIME_LIBRARY_H
#define ONNXL_RUNTIME_LIBRARY_H

#include <assert.h>
#include <stdbool.h>

#include <glib.h>

/* Loads the library soname, for good. ret_functions: room for n pointers. Returns false with ONNXL_ERROR_UNSUPPORTED
 * when it, or one of the n functions, is not there. */
bool onnxl_library_load(const char *soname, const char *const *names, size_t n, void *ret_functions,
                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* An ELF note of the vendor "FDO". */
#define ONNXL_DLOPEN_NOTE_TYPE 0x407c0c0a
#define ONNXL_DLOPEN_NOTE(json)                                                                 \
  static const struct {                                                                         \
    uint32_t name_size, size, type;                                                             \
    char name[4];                                                                               \
    _Alignas(4) char text[sizeof(json)];                                                        \
  } dlopen_note __attribute__((used, section(".note.dlopen"), aligned(4))) = { 4, sizeof(json), \
                                                                               ONNXL_DLOPEN_NOTE_TYPE, "FDO", json };

/* Header macros such as those of PCRE2 put the real name in the place of the one that is written. */
#define ONNXL_LIBRARY_TEXT(name) #name,
#define ONNXL_LIBRARY_NAME(name) ONNXL_LIBRARY_TEXT(name)
#define ONNXL_LIBRARY_MEMBER(name) typeof(&name) name;

#define ONNXL_LIBRARY(feature, soname, description, functions)                                       \
  ONNXL_DLOPEN_NOTE("[{\"feature\":\"" feature "\",\"description\":\"" description                   \
                    "\",\"priority\":\"recommended\",\"soname\":[\"" soname "\"]}]")                 \
  static struct {                                                                                    \
    functions(ONNXL_LIBRARY_MEMBER)                                                                  \
  } lib;                                                                                             \
  static bool load_library(GError **error)                                                           \
  {                                                                                                  \
    static const char *const names[] = { functions(ONNXL_LIBRARY_NAME) };                            \
    static bool loaded;                                                                              \
    static_assert(sizeof lib == sizeof names, "one pointer a function");                             \
    loaded = loaded || onnxl_library_load(soname, names, sizeof names / sizeof *names, &lib, error); \
    return loaded;                                                                                   \
  }

#endif
