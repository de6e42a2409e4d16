package main

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"touchstone/quotes/pb"
)

type service struct {
	pb.UnimplementedQuotesServer
}

func (service) Get(_ context.Context, request *pb.GetRequest) (*pb.Quote, error) {
	if !isSymbol(request.GetSymbol()) {
		return nil, status.Error(codes.NotFound, "no such symbol")
	}
	return quote(request.GetSymbol(), 1), nil
}

func (service) Watch(request *pb.WatchRequest, stream grpc.ServerStreamingServer[pb.Quote]) error {
	if !isSymbol(request.GetSymbol()) {
		return status.Error(codes.NotFound, "no such symbol")
	}
	asked, fits := wantedOf(request.GetCount(), request.GetIntervalMs())
	if !fits {
		return status.Error(codes.InvalidArgument, "count is 1 to 1000, interval_ms 0 to 1000")
	}
	return asked.each(stream.Context(), request.GetSymbol(), stream.Send)
}
