package touchstone.quotes;

import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.Semaphore;
import touchstone.quotes.v1.GetRequest;
import touchstone.quotes.v1.Quote;
import touchstone.quotes.v1.QuotesGrpc.QuotesImplBase;
import touchstone.quotes.v1.WatchRequest;

/** gRPC. Each call has a virtual thread. */
final class RpcService extends QuotesImplBase {
  @Override
  public void get(GetRequest request, StreamObserver<Quote> response) {
    if (!Quotes.isSymbol(request.getSymbol())) {
      response.onError(unknown());
      return;
    }
    response.onNext(Quotes.quote(request.getSymbol(), 1));
    response.onCompleted();
  }

  @Override
  public void watch(WatchRequest request, StreamObserver<Quote> observer) {
    var response = (ServerCallStreamObserver<Quote>) observer;
    if (!Quotes.isSymbol(request.getSymbol())) {
      response.onError(unknown());
      return;
    }
    if (!Quotes.fits(request.getCount(), request.getIntervalMs())) {
      var why = "count is 1 to 1000, interval_ms 0 to 1000";
      response.onError(Status.INVALID_ARGUMENT.withDescription(why).asRuntimeException());
      return;
    }
    var changed = new Semaphore(0);
    response.setOnReadyHandler(changed::release);
    response.setOnCancelHandler(changed::release);
    // Handlers of a call run one at a time, so that those above need a thread that this loop does not hold.
    Thread.ofVirtual().start(() -> stream(request, response, changed));
  }

  private static void stream(
      WatchRequest request, ServerCallStreamObserver<Quote> response, Semaphore changed) {
    try {
      Quotes.each(
          request.getSymbol(),
          request.getCount(),
          request.getIntervalMs(),
          quote -> {
            while (!response.isReady() && !response.isCancelled()) {
              changed.acquire();
            }
            if (response.isCancelled()) {
              return false;
            }
            response.onNext(quote);
            return true;
          });
      if (!response.isCancelled()) {
        response.onCompleted();
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private static RuntimeException unknown() {
    return Status.NOT_FOUND.withDescription("no such symbol").asRuntimeException();
  }
}
