import { isUtf8 } from 'node:buffer';

const MAX_AGE = 150;

const STRINGS = /"(?:[^"\\]|\\.)*"/g;
// Three members, their values strings or whole numbers, written without sign, fraction or exponent.
const OUTLINE = /^\s*\{\s*""\s*:\s*(?:""|\d+)\s*,\s*""\s*:\s*(?:""|\d+)\s*,\s*""\s*:\s*(?:""|\d+)\s*\}\s*$/;

/**
 * The user in a body, or undefined if it holds none.
 *
 * JSON.parse keeps the last of two fields of one name, and cannot tell 1e1 from 10. The outline, the text without what
 * is in its strings, shows both.
 */
export function readUser(body) {
  if (!isUtf8(body)) return undefined;
  const text = body.toString();
  let sent;
  try {
    sent = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!OUTLINE.test(text.replace(STRINGS, '""'))) return undefined;
  const { name, email, age } = sent;
  return isText(name) && isText(email) && isAge(age) ? { name, email, age } : undefined;
}

/** Neither half a surrogate pair nor NUL, which PostgreSQL's text cannot hold. */
function isText(value) {
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\0');
}

function isAge(value) {
  return Number.isInteger(value) && value <= MAX_AGE;
}
