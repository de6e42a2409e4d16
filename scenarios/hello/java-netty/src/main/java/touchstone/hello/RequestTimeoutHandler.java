package touchstone.hello;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.timeout.ReadTimeoutException;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Closes a connection whose request, once begun, is not answered in time. Netty's ReadTimeoutHandler
 * measures silence, which a client that drips bytes never falls into, and would end idle connections.
 */
final class RequestTimeoutHandler extends ChannelDuplexHandler {
  private final long timeoutNanos;
  private boolean underWay;
  private long began;
  private Future<?> timer;

  RequestTimeoutHandler(long timeoutMilliseconds) {
    timeoutNanos = TimeUnit.MILLISECONDS.toNanos(timeoutMilliseconds);
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (!underWay && timeoutNanos > 0) {
      underWay = true;
      began = System.nanoTime();
      if (timer == null) {
        schedule(context, timeoutNanos);
      }
    }
    context.fireChannelRead(message);
  }

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    underWay = false;
    context.write(message, promise);
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    if (timer != null) {
      timer.cancel(false);
    }
  }

  // One timer at most a connection: it is moved when it fires, not by each request.
  private void schedule(ChannelHandlerContext context, long nanos) {
    timer = context.executor().schedule(() -> check(context), nanos, TimeUnit.NANOSECONDS);
  }

  private void check(ChannelHandlerContext context) {
    timer = null;
    if (!underWay) {
      return;
    }
    long left = began + timeoutNanos - System.nanoTime();
    if (left > 0) {
      schedule(context, left);
    } else {
      context.fireExceptionCaught(ReadTimeoutException.INSTANCE);
      context.close();
    }
  }
}
