// Functions that glibc cannot offer in a static program, because it would load shared libraries of its own. Libraries
// refer to them in code that hutch never calls: SQLite loads no extensions, OpenSSL loads no engines and makes no
// connections, c-ares looks up no service by name. Each definition here reports that nothing was found; without them
// the linker takes glibc's and warns about each.
#include <dlfcn.h>
#include <netdb.h>

#include <cerrno>

extern "C" {

void* dlopen(const char* /*file*/, int /*mode*/) noexcept { return nullptr; }

int getaddrinfo(const char* /*node*/, const char* /*service*/, const addrinfo* /*hints*/, addrinfo** /*found*/) {
  return EAI_FAIL;
}

void freeaddrinfo(addrinfo* /*found*/) noexcept {}

hostent* gethostbyname(const char* /*name*/) { return nullptr; }

servent* getservbyname(const char* /*name*/, const char* /*protocol*/) { return nullptr; }

int getservbyport_r(int /*port*/, const char* /*protocol*/, servent* /*entry*/, char* /*buffer*/, size_t /*size*/,
                    servent** result) {
  *result = nullptr;
  return ENOENT;
}
}
