#!/usr/bin/env bash
# JDK 25.0.3: an AOT cache runs the code that it was made with, whatever the jar holds by now, and where there is no jar
#
# A jar of another size and time, or a class path without it: the JVM loads the application's classes from the cache, without a
# word, with `-XX:AOTMode=on` too. A CDS archive (`-XX:SharedArchiveFile`) keeps size and time of each jar, and is refused.
source "$(dirname "$0")/common"
java=$(jdk 25)
jar_of() { # what the program prints
  echo "public class Main { public static void main(String[] a) { System.out.println(\"$1\"); } }" > Main.java
  "$java/javac" Main.java
  "$java/jar" --create --file app.jar --main-class Main Main.class
}
jar_of old
"$java/java" -XX:AOTCacheOutput=app.aot -jar app.jar > train.txt 2>&1
"$java/java" -XX:ArchiveClassesAtExit=app.jsa -jar app.jar > /dev/null
sleep 1.1
jar_of "new and longer"
seen="plain: $("$java/java" -jar app.jar)"
seen+=", AOT cache: $("$java/java" -XX:AOTCache=app.aot -XX:AOTMode=on -jar app.jar)"
seen+=", AOT cache without a jar: $("$java/java" -XX:AOTCache=app.aot -cp nowhere.jar Main)"
seen+=", CDS archive: $("$java/java" -XX:SharedArchiveFile=app.jsa -Xlog:disable -jar app.jar)"
compare "plain: new and longer, AOT cache: old, AOT cache without a jar: old, CDS archive: new and longer" "$seen"
