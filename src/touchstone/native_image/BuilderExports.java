import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Writes the options that open packages to the image builder, one a line.
 *
 * <p>The builder's modules reach into each other's and the JDK's inner packages. A GraalVM's own JDK is built with the
 * modules that it may do so; here each package that is not exported to everyone is exported to the builder's modules.
 *
 * <p>Arguments: the folder of modules that replace the JDK's, the folder of further modules, and the file to write.
 */
class BuilderExports {
    /** Modules that the builder has no business in; they would treble the number of options. */
    private static final Set<String> LEFT_OUT = Set.of(
        "java.desktop", "java.xml", "java.xml.crypto", "jdk.compiler", "jdk.editpad", "jdk.graal.compiler",
        "jdk.hotspot.agent", "jdk.internal.ed", "jdk.internal.le", "jdk.internal.md", "jdk.internal.opt",
        "jdk.jartool", "jdk.javadoc", "jdk.jcmd", "jdk.jconsole", "jdk.jdeps", "jdk.jdi", "jdk.jdwp.agent",
        "jdk.jlink", "jdk.jpackage", "jdk.jshell", "jdk.jstatd", "jdk.localedata", "jdk.unsupported.desktop");

    public static void main(String[] arguments) throws Exception {
        var builder = new HashMap<String, ModuleReference>();
        for (int folder = 0; folder < 2; folder++) {
            add(builder, ModuleFinder.of(Path.of(arguments[folder])).findAll());
        }
        var all = new HashMap<String, ModuleReference>();
        add(all, ModuleFinder.ofSystem().findAll());
        all.keySet().removeAll(LEFT_OUT);
        all.putAll(builder);
        String readers = builder.keySet().stream().sorted().collect(Collectors.joining(","));
        var options = new TreeSet<String>();
        for (var module : all.values()) {
            for (String inner : innerPackages(module.descriptor())) {
                options.add("--add-exports=" + module.descriptor().name() + "/" + inner + "=" + readers);
            }
        }
        Files.write(Path.of(arguments[2]), options);
    }

    private static void add(Map<String, ModuleReference> into, Collection<ModuleReference> modules) {
        modules.forEach(module -> into.put(module.descriptor().name(), module));
    }

    private static Set<String> innerPackages(ModuleDescriptor module) {
        var packages = new TreeSet<>(module.packages());
        module.exports().stream().filter(exported -> !exported.isQualified()).forEach(e -> packages.remove(e.source()));
        return packages;
    }
}
