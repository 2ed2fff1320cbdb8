// Alpine's names of packages, as Debian has them.
#include "base/alpine_names.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace hutch {

namespace {

struct Translation {
  std::string_view alpine;
  std::string_view debian;
};
// Only names that differ, and that no rule translates.
constexpr std::array kTranslations = {
    Translation{"build-base", "build-essential"},
    Translation{"musl-dev", "libc6-dev"},
    Translation{"libc-dev", "libc6-dev"},
    Translation{"linux-headers", "linux-libc-dev"},
    Translation{"openssl-dev", "libssl-dev"},
    Translation{"zlib-dev", "zlib1g-dev"},
    Translation{"jpeg-dev", "libjpeg-dev"},
    Translation{"libjpeg-turbo-dev", "libjpeg-dev"},
    Translation{"freetype-dev", "libfreetype-dev"},
    Translation{"curl-dev", "libcurl4-openssl-dev"},
    Translation{"ncurses-dev", "libncurses-dev"},
    Translation{"readline-dev", "libreadline-dev"},
    Translation{"sqlite", "sqlite3"},
    Translation{"sqlite-dev", "libsqlite3-dev"},
    Translation{"libxslt-dev", "libxslt1-dev"},
    Translation{"postgresql-dev", "libpq-dev"},
    Translation{"libpq", "libpq5"},
    Translation{"fd", "fd-find"},
    Translation{"go", "golang"},
    Translation{"rust", "rustc"},
    Translation{"openjdk17", "openjdk-17-jdk-headless"},
    Translation{"openjdk17-jre", "openjdk-17-jre"},
    Translation{"bind-tools", "dnsutils"},
    Translation{"iputils", "iputils-ping"},
    Translation{"shadow", "passwd"},
    Translation{"font-noto", "fonts-noto-core"},
    Translation{"ttf-dejavu", "fonts-dejavu"},
    Translation{"font-dejavu", "fonts-dejavu"},
    Translation{"github-cli", "gh"},
    Translation{"the_silver_searcher", "silversearcher-ag"},
    Translation{"py3-beautifulsoup4", "python3-bs4"},
    Translation{"py3-gobject3", "python3-gi"},
    Translation{"py3-mysqlclient", "python3-mysqldb"},
    Translation{"py3-pillow", "python3-pil"},
    Translation{"py3-pynacl", "python3-nacl"},
    Translation{"py3-pyserial", "python3-serial"},
    Translation{"py3-pyzmq", "python3-zmq"},
    Translation{"py3-qt5", "python3-pyqt5"},
    Translation{"py3-scikit-learn", "python3-sklearn"},
    Translation{"python3-tkinter", "python3-tk"},
    Translation{"bzip2-dev", "libbz2-dev"},
    Translation{"xz-dev", "liblzma-dev"},
    Translation{"expat-dev", "libexpat1-dev"},
    Translation{"yaml-dev", "libyaml-dev"},
    Translation{"tiff-dev", "libtiff-dev"},
    Translation{"hdf5-dev", "libhdf5-dev"},
    Translation{"openblas-dev", "libopenblas-dev"},
    Translation{"lapack-dev", "liblapack-dev"},
    Translation{"gmp-dev", "libgmp-dev"},
    Translation{"geos-dev", "libgeos-dev"},
    Translation{"gdal-dev", "libgdal-dev"},
    Translation{"boost-dev", "libboost-dev"},
    Translation{"glib-dev", "libglib2.0-dev"},
    Translation{"cairo-dev", "libcairo2-dev"},
    Translation{"pango-dev", "libpango1.0-dev"},
    Translation{"mysql-client", "default-mysql-client"},
    Translation{"procps-ng", "procps"},
    Translation{"ninja", "ninja-build"},
    Translation{"samurai", "ninja-build"},
    Translation{"R", "r-base"},
    Translation{"yarn", "yarnpkg"},
    Translation{"openssh", "openssh-client"},
};

}  // namespace

std::optional<std::string> debian_name_of(std::string_view alpine) {
  const auto known = std::ranges::find(kTranslations, alpine, &Translation::alpine);
  if (known != kTranslations.end()) return std::string(known->debian);
  if (alpine.starts_with("py3-")) return cat({"python3-", alpine.substr(4)});
  return std::nullopt;
}

}  // namespace hutch
