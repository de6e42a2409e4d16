#!/usr/bin/env bash
# JDK 25: an AOT cache runs the old code of a jar that was replaced by one of the same size and time, silently
#
# The cache checks the jar's size and modification time, not its content. A build that fixes both (reproducible builds set the
# time) and changes one digit gives a jar of which the JVM runs the version that the cache was trained with.
set -euo pipefail
java=${JAVA_25_HOME:-$(ls -d /usr/lib/jvm/*25* 2>/dev/null | head -1)}/bin
"$java/java" -version 2>&1 | grep -q '"25' || { echo "skipped: needs a JDK 25; set JAVA_25_HOME"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
jar_of() { # what the program prints
  mkdir -p classes
  echo "public class Main { public static void main(String[] a) { System.out.println(\"version $1\"); } }" > Main.java
  "$java/javac" -d classes Main.java
  touch -d 2026-01-01T00:00:00Z classes/Main.class
  "$java/jar" --create --file app.jar --date 2026-01-01T00:00:00Z --no-compress --main-class Main -C classes .
  touch -d 2026-01-01T00:00:00Z app.jar
}
jar_of 1
"$java/java" -XX:AOTCacheOutput=app.aot -jar app.jar > train.txt 2>&1
jar_of 2
plain=$("$java/java" -jar app.jar)
cached=$("$java/java" -XX:AOTCache=app.aot -jar app.jar 2>&1)
if [ "$plain" = "version 2" ] && [ "$cached" = "version 1" ]; then
  echo "as described: the jar says '$plain', with the cache the JVM runs '$cached'"
else
  echo "changed: plain '$plain', with the cache '$cached'"; cat train.txt; exit 1
fi
