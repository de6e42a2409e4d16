import { setTimeout as pause } from 'node:timers/promises';

const MOST = 1000;

/** Whether a text is a capital letter, and up to seven capital letters and digits. */
export function isSymbol(text) {
  return /^[A-Z][A-Z0-9]{0,7}$/.test(text);
}

/** The quote of a symbol with a number, as of now. */
export function quote(symbol, number) {
  let sum = 0;
  for (let i = 0; i < symbol.length; i += 1) sum += symbol.charCodeAt(i);
  const bid = 10_000 + ((sum * 7 + number) % 5_000);
  const stamp = Math.floor((performance.timeOrigin + performance.now()) * 1000);
  return { symbol, number, bid, ask: bid + 5, stamp };
}

/** Whether 1 to 1000 quotes are asked for, 0 to 1000 milliseconds apart. */
export function fits(count, interval) {
  const within = (value, least) => Number.isInteger(value) && value >= least && value <= MOST;
  return within(count, 1) && within(interval, 0);
}

/** Hands over the quotes of a symbol one after the other, until one is not taken. */
export async function each(symbol, count, interval, take) {
  for (let number = 1; number <= count; number += 1) {
    if (number > 1 && interval > 0) await pause(interval);
    if (!(await take(quote(symbol, number)))) return;
  }
}

/** Writes to a stream, and waits while its buffer is full. False once its reader is gone. */
export function written(stream, message) {
  if (stream.destroyed || stream.cancelled) return false;
  if (stream.write(message)) return true;
  return new Promise((resolve) => {
    const end = (goes) => () => {
      stream.off('drain', drained).off('close', gone).off('cancelled', gone);
      resolve(goes);
    };
    const [drained, gone] = [end(true), end(false)];
    stream.on('drain', drained).on('close', gone).on('cancelled', gone);
  });
}
