package touchstone.quotes;

import java.time.Instant;
import java.util.regex.Pattern;
import touchstone.quotes.v1.Quote;

/** The quotes themselves: the same answer for every way that leads to it. */
final class Quotes {
  private static final int MOST = 1000;
  private static final Pattern SYMBOL = Pattern.compile("[A-Z][A-Z0-9]{0,7}");

  /** Takes quotes, and says whether it takes more. */
  interface Taker {
    boolean take(Quote quote) throws InterruptedException;
  }

  private Quotes() {}

  /** Whether a text is a capital letter, and up to seven capital letters and digits. */
  static boolean isSymbol(String text) {
    return SYMBOL.matcher(text).matches();
  }

  /** Whether 1 to 1000 quotes are asked for, 0 to 1000 milliseconds apart. */
  static boolean fits(int count, int intervalMs) {
    return count >= 1 && count <= MOST && intervalMs >= 0 && intervalMs <= MOST;
  }

  /** The quote of a symbol with a number, as of now. */
  static Quote quote(String symbol, int number) {
    int sum = 0;
    for (int i = 0; i < symbol.length(); i++) {
      sum += symbol.charAt(i);
    }
    int bid = 10_000 + (sum * 7 + number) % 5_000;
    Instant now = Instant.now();
    return Quote.newBuilder()
        .setSymbol(symbol)
        .setNumber(number)
        .setBid(bid)
        .setAsk(bid + 5)
        .setStamp(now.getEpochSecond() * 1_000_000 + now.getNano() / 1_000)
        .build();
  }

  /** Hands over the quotes of a symbol one after the other, on a virtual thread of the caller's. */
  static void each(String symbol, int count, int intervalMs, Taker taker)
      throws InterruptedException {
    for (int number = 1; number <= count; number++) {
      if (number > 1 && intervalMs > 0) {
        Thread.sleep(intervalMs);
      }
      if (!taker.take(quote(symbol, number))) {
        return;
      }
    }
  }

  static String json(Quote quote) {
    return "{\"symbol\":\""
        + quote.getSymbol()
        + "\",\"number\":"
        + quote.getNumber()
        + ",\"bid\":"
        + quote.getBid()
        + ",\"ask\":"
        + quote.getAsk()
        + ",\"stamp\":"
        + quote.getStamp()
        + "}";
  }
}
