import Database from 'better-sqlite3';

const SCHEMA = `CREATE TABLE IF NOT EXISTS users(
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, UNIQUE(name))`;

/** Opens the users' table. The driver is synchronous: a process has one query under way, on one connection. */
export function openStore({ path, busyTimeout }) {
  const database = new Database(path, { timeout: busyTimeout });
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = NORMAL');
  database.exec(SCHEMA);
  const insert = database.prepare('INSERT INTO users(name) VALUES (?)');
  const select = database.prepare('SELECT name FROM users WHERE name = ?').pluck();

  return {
    /** Registers a name; false if it is taken. */
    add(name) {
      try {
        insert.run(name);
        return true;
      } catch (error) {
        if (error.code === 'SQLITE_CONSTRAINT_UNIQUE') return false;
        throw error;
      }
    },

    /** The registered name, or undefined if there is none. */
    find(name) {
      return select.get(name);
    },

    close() {
      database.close();
    },
  };
}
