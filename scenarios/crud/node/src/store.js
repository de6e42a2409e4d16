import pg from 'pg';

const INSERT = 'INSERT INTO users (name, email, age) VALUES ($1, $2, $3) RETURNING id';
const SELECT = 'SELECT id, name, email, age FROM users WHERE id = $1';
const DELETE = 'DELETE FROM users WHERE id = $1';

// SQLSTATE classes: connection exception, insufficient resources, a database that takes no connections, operator
// intervention.
const AWAY = new Set(['08', '53', '55', '57']);

/** Makes the pool; its sessions are opened when they are first needed. */
export function openStore({ url, pool: max, timeout }) {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: timeout,
    query_timeout: timeout,
  });
  // A session that breaks while nobody uses it: the pool drops it, and the next request opens another.
  pool.on('error', () => {});
  // One that breaks between two statements of a request: the next statement fails, and the process lives on.
  pool.on('connect', (session) => session.on('error', () => {}));

  return {
    /** Inserts the user, reads it back and deletes it, on one session; each statement commits by itself. */
    async passThrough({ name, email, age }) {
      const session = await pool.connect();
      let failure;
      try {
        const inserted = await session.query({ name: 'insert', text: INSERT, values: [name, email, age] });
        const { id } = inserted.rows[0];
        const selected = await session.query({ name: 'select', text: SELECT, values: [id] });
        await session.query({ name: 'delete', text: DELETE, values: [id] });
        return selected.rows[0];
      } catch (error) {
        failure = error;
        throw error;
      } finally {
        // After a failure the session's state is unknown, so it is closed.
        session.release(failure);
      }
    },

    close: () => pool.end(),
  };
}

/** Tells a database that cannot serve from a statement that is wrong. */
export function isAway(error) {
  return !(error instanceof pg.DatabaseError) || AWAY.has(error.code?.slice(0, 2));
}
