use crate::runtime::tests::check;

#[test]
fn constructors_need_no_new() {
    check(
        "import { Blob, WebSocket } from 'k6/websockets';
         import { CountQueuingStrategy, ReadableStream, WritableStream } from 'k6/experimental/streams';
         import { Counter } from 'k6/metrics';
         const counter = Counter('own');
         export default () => {
           const made = [
             [Blob, Blob(['ab'], { type: 't' })], [TextEncoder, TextEncoder()], [TextDecoder, TextDecoder('utf-16')],
             [ReadableStream, ReadableStream({})], [WritableStream, WritableStream({})],
             [CountQueuingStrategy, CountQueuingStrategy({ highWaterMark: 2 })],
           ];
           for (const [of, one] of made) console.log(of.name, one instanceof of, of.prototype.constructor === of, one.constructor === of);
           console.log(made[0][1].size, made[1][1].encode('ab').length, made[2][1].encoding, made[5][1].highWaterMark, counter.name);
           const socket = WebSocket('ws://a/ws');
           console.log(socket instanceof WebSocket, WebSocket.name, socket.readyState);
           socket.onopen = () => socket.close();
         }",
        &[
            "Blob true true true",
            "TextEncoder true true true",
            "TextDecoder true true true",
            "ReadableStream true true true",
            "WritableStream true true true",
            "CountQueuingStrategy true true true",
            "2 2 utf-16le 2 own",
            "true WebSocket 0",
        ],
    );
}

#[test]
fn a_class_may_extend_one_of_k6s() {
    check(
        "import { Blob } from 'k6/websockets';
         class Own extends Blob { twice() { return this.size * 2; } }
         export default () => {
           const own = new Own(['abc']);
           console.log(own instanceof Own, own instanceof Blob, own.twice(), Own.name, own.constructor === Own);
         }",
        &["true true 6 Own true"],
    );
}
