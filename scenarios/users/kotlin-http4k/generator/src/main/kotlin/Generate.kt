package generator

import app.cash.sqldelight.core.SqlDelightCompilationUnit
import app.cash.sqldelight.core.SqlDelightDatabaseName
import app.cash.sqldelight.core.SqlDelightDatabaseProperties
import app.cash.sqldelight.core.SqlDelightEnvironment
import app.cash.sqldelight.core.SqlDelightEnvironment.CompilationStatus.Failure
import app.cash.sqldelight.core.SqlDelightSourceFolder
import app.cash.sqldelight.dialects.sqlite_3_38.SqliteDialect
import java.io.File
import kotlin.system.exitProcess

/** Writes Kotlin for the `.sq` files: `generate <folder of .sq files> <output folder> <package>`. */
fun main(arguments: Array<String>) {
    val (source, output, packageName) = arguments
    val unit = Unit("main", setOf(Folder(File(source))), File(output))
    val environment = SqlDelightEnvironment(
        properties = Database(packageName, listOf(unit)),
        compilationUnit = unit,
        verifyMigrations = false,
        dialect = SqliteDialect(),
        moduleName = "service",
        sourceFolders = unit.sourceFolders.map { it.folder },
        dependencyFolders = emptyList(),
    )
    val status = environment.generateSqlDelightFiles(System.err::println)
    if (status is Failure) {
        status.errors.forEach(System.err::println)
        exitProcess(1)
    }
}

private class Folder(override val folder: File) : SqlDelightSourceFolder {
    override val dependency = false
}

private class Unit(
    override val name: String,
    override val sourceFolders: Set<SqlDelightSourceFolder>,
    override val outputDirectoryFile: File,
) : SqlDelightCompilationUnit

private class Database(
    override val packageName: String,
    override val compilationUnits: List<SqlDelightCompilationUnit>,
) : SqlDelightDatabaseProperties {
    override val className = "Database"
    override val dependencies = emptyList<SqlDelightDatabaseName>()
    override val deriveSchemaFromMigrations = false
    // As in SQL: `name = ?` finds no row for a null, so that the statement's text is the same for every argument.
    override val treatNullAsUnknownForEquality = true
    override val rootDirectory = File(".")
    override val generateAsync = false
    override val expandSelectStar = true
}
