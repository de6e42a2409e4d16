#!/usr/bin/env bash
# @grpc/reflection 1.0.4 (grpc-js 1.14.7, proto-loader 0.8.1): its files name no imports, and an imported file is not found by its path
#
# The protocol says that a client asks for each name in `dependency` by file_by_filename, and builds its pool from the answers.
# Here `dependency` is empty, and the type names of fields lack the dot that makes them absolute, so a pool that follows the protocol
# lacks the imported types. grpcio's own reflection of the same files answers both.
source "$(dirname "$0")/common"
needs node
node_with @grpc/reflection@1.0.4 @grpc/grpc-js@1.14.7 @grpc/proto-loader@0.8.1
python_with grpcio==1.85.1 grpcio-reflection==1.85.1
mkdir -p common
echo 'syntax = "proto3"; package common; message Meta { string id = 1; }' > common/meta.proto
cat > talk.proto <<'PROTO'
syntax = "proto3";
package talk.v1;
import "common/meta.proto";
message Said { common.Meta meta = 1; }
service Talk { rpc Say (Said) returns (Said); }
PROTO
cat > server.js <<'JS'
const grpc = require('@grpc/grpc-js');
const definition = require('@grpc/proto-loader').loadSync('talk.proto', { includeDirs: ['.'] });
const { ReflectionService } = require('@grpc/reflection');
const server = new grpc.Server();
new ReflectionService(definition).addToServer(server);
server.addService(grpc.loadPackageDefinition(definition).talk.v1.Talk.service, { Say: (call, done) => done(null, call.request) });
server.bindAsync(`127.0.0.1:${process.argv[2]}`, grpc.ServerCredentials.createInsecure(), () => {});
JS
port=$(free_port)
start node server.js "$port"
listening "$port"
seen=$(env/bin/python - "$port" <<'PY'
import sys
import grpc
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from grpc_reflection.v1alpha import reflection_pb2 as messages, reflection_pb2_grpc as stubs
stub = stubs.ServerReflectionStub(grpc.insecure_channel(f"127.0.0.1:{sys.argv[1]}"))
def ask(**question):
    return next(iter(stub.ServerReflectionInfo(iter([messages.ServerReflectionRequest(**question)]))))
files = [FileDescriptorProto.FromString(file) for file in ask(file_containing_symbol="talk.v1.Talk").file_descriptor_response.file_descriptor_proto]
talk = next(file for file in files if file.package == "talk.v1")
path = ask(file_by_filename="common/meta.proto").error_response.error_code
print(f"imports: {len(talk.dependency)}, field: {talk.message_type[0].field[0].type_name}, common/meta.proto: {path}")
PY
)
compare "imports: 0, field: common.Meta, common/meta.proto: 5" "$seen"
