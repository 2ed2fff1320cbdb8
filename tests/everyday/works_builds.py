# The table of developers' work: compilers and build tools of several languages, and Debian packages.
from work import Work, text

POM = text("""
    <project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
      <groupId>p</groupId><artifactId>p</artifactId><version>1</version>
      <properties><maven.compiler.release>17</maven.compiler.release>
        <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>
      <dependencies><dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.x</version>
        <scope>test</scope></dependency></dependencies></project>
""")

WORKS = [
    Work("cargo: build, test and run a crate", "compilers", """
        cargo build -q --offline; cargo test -q --offline 2>&1 | grep -c 'test result: ok. 1 passed'; ./target/debug/p
        cargo run -q --offline --release; ls
    """, ("/usr/bin/cargo",), {
        "Cargo.toml": '[package]\nname = "p"\nversion = "0.1.0"\nedition = "2021"\n',
        "src/main.rs": text("""
            fn twice(n: i32) -> i32 { 2 * n }
            fn main() { println!("{}", std::thread::spawn(|| twice(21)).join().unwrap()); }
            #[test]
            fn doubles() { assert_eq!(twice(2), 4); }
        """)}, slow=True, debian="cargo"),
    Work("go: build, vet and test a module", "compilers", """
        go build -o p .; ./p; go vet ./...; go test -count=1 ./... | cut -f1,2
    """, ("/usr/bin/go",), {
        "go.mod": "module example.org/p\n\ngo 1.19\n",
        "main.go": text("""
            package main
            import ("fmt"; "example.org/p/twice")
            func main() {
                c := make(chan int)
                go func() { c <- twice.Of(21) }()
                fmt.Println(<-c)
            }
        """),
        "twice/twice.go": "package twice\n\nfunc Of(n int) int { return 2 * n }\n",
        "twice/twice_test.go": text("""
            package twice
            import "testing"
            func TestOf(t *testing.T) { if Of(2) != 4 { t.Fatal() } }
        """)}, slow=True, debian="golang-go"),
    Work("Maven offline: compile, test, package", "compilers", """
        cp -rs /usr/share/maven-repo repo; mvn -q -o -B -Dmaven.repo.local=$PWD/repo package > log 2>&1; ls target/*.jar
        java -XX:+UseSerialGC -cp target/p-1.jar p.Main
        grep -o 'Tests run: 1, Failures: 0' target/surefire-reports/*.txt
    """, ("mvn", "javac", "/usr/share/maven-repo/org/apache/maven/plugins/maven-jar-plugin",
          "/usr/share/maven-repo/org/apache/maven/plugins/maven-surefire-plugin", "/usr/share/maven-repo/junit"), {
        "pom.xml": POM,
        "src/main/java/p/Main.java": text("""
            package p;
            public class Main {
                static int twice(int n) { return 2 * n; }
                public static void main(String[] a) { System.out.println(twice(21)); }
            }
        """),
        "src/test/java/p/MainTest.java": text("""
            package p;
            public class MainTest {
                @org.junit.Test public void doubles() { org.junit.Assert.assertEquals(4, Main.twice(2)); }
            }
        """)}, slow=True,
         debian="maven libmaven-compiler-plugin-java libmaven-resources-plugin-java libmaven-jar-plugin-java "
                "libsurefire-java junit4"),
    Work("meson: a library, a program, a test, an installation", "compilers", """
        meson setup b > log; meson compile -C b > log; meson test -C b 2>&1 | grep -E '^(Ok|Fail)'
        DESTDIR=$PWD/out meson install -C b > log; (cd out; find . -type f | LC_ALL=C sort)
    """, ("meson", "ninja", "gcc"), {
        "meson.build": text("""
            project('p', 'c', version: '1')
            twice = static_library('twice', 'twice.c')
            program = executable('p', 'p.c', link_with: twice, install: true)
            test('doubles', program)
        """),
        "twice.c": "int twice(int n) { return 2 * n; }\n",
        "p.c": "int twice(int);\nint main() { return twice(21) - 42; }\n"}, slow=True),
    Work("autotools: autoreconf, configure, make check, with libtool", "compilers", """
        autoreconf -i > log 2>&1; ./configure -q --disable-static > log 2>&1; make -s > log
        make -s check 2>&1 | grep '^# PASS'
        make -s install DESTDIR=$PWD/out > log 2>&1; (cd out; find . -type f -o -type l | LC_ALL=C sort)
    """, ("autoreconf", "automake", "libtoolize", "gcc", "make"), {
        "configure.ac": "AC_INIT([p], [1])\nAM_INIT_AUTOMAKE([foreign])\nAC_PROG_CC\nAM_PROG_AR\nLT_INIT\n"
                        "AC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n",
        "Makefile.am": text("""
            lib_LTLIBRARIES = libtwice.la
            libtwice_la_SOURCES = twice.c
            bin_PROGRAMS = p
            p_SOURCES = p.c
            p_LDADD = libtwice.la
            TESTS = p
        """),
        "twice.c": "int twice(int n) { return 2 * n; }\n",
        "p.c": "int twice(int);\nint main() { return twice(21) - 42; }\n"}, slow=True),
    Work("dpkg-buildpackage: a source with a debian directory", "packages", """
        cd hello; chmod 755 debian/rules; dpkg-buildpackage -b -us -uc > ../log 2>&1; cd ..; ls *.deb
        dpkg-deb --fsys-tarfile pack_1_*.deb | tar --numeric-owner -tv | cut -c1-14,42-
        dpkg-deb -f pack_1_*.deb Package Version
        dpkg-deb -x pack_1_*.deb x; x/usr/bin/pack
    """, ("dpkg-buildpackage", "dh", "fakeroot", "gcc", "make"), {
        "hello/debian/control": "Source: pack\nSection: misc\nPriority: optional\nMaintainer: A <a@b.example>\n"
                                "Build-Depends: debhelper-compat (= 13)\nStandards-Version: 4.6.2\n\n"
                                "Package: pack\nArchitecture: any\nDepends: ${shlibs:Depends}, ${misc:Depends}\n"
                                "Description: a program\n that says so\n",
        "hello/debian/changelog": "pack (1) unstable; urgency=low\n\n  * First.\n\n"
                                  " -- A <a@b.example>  Mon, 01 Jan 2024 00:00:00 +0000\n",
        "hello/debian/rules": "#!/usr/bin/make -f\n%:\n\tdh $@\n",
        "hello/Makefile": "pack: p.c\n\t$(CC) $(CFLAGS) -o $@ $<\n"
                          "install: pack\n\tinstall -D -m 755 pack $(DESTDIR)/usr/bin/pack\nclean:\n\trm -f pack\n",
        "hello/p.c": '#include <stdio.h>\nint main() { puts("packaged"); }\n'}, slow=True, debian="debhelper"),
]
