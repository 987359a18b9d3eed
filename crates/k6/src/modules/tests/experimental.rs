use crate::runtime::Thrown;
use crate::runtime::tests::{check, run, run_with};

#[test]
fn files_are_read_by_pieces_and_as_records() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("people.csv"), "name,age\nAda,36\n\"B, b\",7\n").unwrap();
    let script = "import { open, SeekMode } from 'k6/experimental/fs';
        import csv from 'k6/experimental/csv';
        const file = await open('./people.csv');
        const parser = new csv.Parser(file, { asObjects: true });
        const rows = await csv.parse(file, { skipFirstLine: true });
        const some = await csv.parse(file, { fromLine: 1, toLine: 2, delimiter: ',' });
        const tried = async (what) => { try { return await what(); } catch (e) { return e.name; } };
        const seen = [await tried(() => open('./none')), await tried(() => open()), await tried(() => new csv.Parser(file, { asObjects: true, skipFirstLine: true })), await tried(() => csv.parse(file, { fromLine: 1, toLine: 1 }))];
        export default async () => {
          console.log(rows.length, rows[0], rows[1].join('|'), Array.isArray(rows), some.length, some[0]);
          for (;;) { const { done, value } = await parser.next(); if (done) break; console.log(value); }
          const { name, size } = await file.stat(), buffer = new Uint8Array(8);
          console.log(name, size, await file.read(buffer), String.fromCharCode(...buffer), await file.seek(-3, SeekMode.End), await file.read(buffer), await file.read(buffer));
          console.log(await file.seek(2, SeekMode.Start), await file.seek(1, SeekMode.Current), await tried(() => file.seek(-4, 1)), await tried(() => file.seek(99, 0)));
          console.log(seen.join(' '), await tried(() => open('./people.csv')));
        };";
    let seen = run_with(folder.path(), script, None);
    let lines = [
        r#"2 [ "Ada", "36" ] B, b|7 true 2 [ "Ada", "36" ]"#,
        r#"{ name: "Ada", age: "36" }"#,
        r#"{ name: "B, b", age: "7" }"#,
        "people.csv 25 8 name,age 22 3 null",
        "2 3 TypeError TypeError",
        "NotFoundError TypeError GoError GoError ForbiddenError",
    ];
    assert_eq!(seen.lines, lines, "{:?}", seen.outcome);
}

#[test]
fn a_stream_gives_what_its_source_gives() {
    check(
        "import { ReadableStream, CountQueuingStrategy } from 'k6/experimental/streams';
         const all = async (stream) => { const seen = []; for await (const chunk of stream) seen.push(chunk); return seen.join(); };
         export default async () => {
           console.log(await all(new ReadableStream({ start(it) { it.enqueue('a'); it.enqueue('b'); it.close(); } })));
           let next = 0;
           const pulled = new ReadableStream({ pull(it) { next += 1; it.enqueue(next); if (next === 3) it.close(); } }, new CountQueuingStrategy({ highWaterMark: 2 }));
           console.log(await all(pulled), pulled.locked);
           const slow = new ReadableStream({ start(it) { setTimeout(() => { console.log('due', it.desiredSize); it.enqueue('late'); it.error(new Error('odd')); }, 20); } });
           const reader = slow.getReader();
           console.log((await reader.read()).value);
           try { await reader.read(); } catch (e) { console.log(e.message); }
           try { slow.getReader(); } catch (e) { console.log(e.name); }
           reader.releaseLock();
           let why; const gone = new ReadableStream({ cancel(reason) { why = reason; } });
           await gone.cancel('enough'); console.log(why, (await gone.getReader().read()).done);
         }",
        &["a,b", "1,2,3 true", "due 1", "late", "odd", "TypeError", "enough true"],
    );
}

#[test]
fn a_sink_gets_what_is_written_one_by_one() {
    check(
        "import { WritableStream } from 'k6/experimental/streams';
         const pause = () => new Promise((go) => setTimeout(go, 10));
         export default async () => {
           const seen = [];
           const writer = new WritableStream({ async write(chunk) { await pause(); seen.push(chunk); }, close() { seen.push('closed'); } }, { highWaterMark: 2 }).getWriter();
           writer.write('a'); const b = writer.write('b');
           console.log(writer.desiredSize, seen.length); await b; await writer.ready; console.log(seen.join(), writer.desiredSize);
           await writer.close(); await writer.closed; console.log(seen.join());
           const broken = new WritableStream({ write() { throw new Error('odd'); } }).getWriter();
           try { await broken.write(1); } catch (e) { console.log(e.message); }
           try { await broken.write(2); } catch (e) { console.log(e.message); }
           let why; await new WritableStream({ abort(reason) { why = reason; } }).abort('enough'); console.log(why);
         }",
        &["0 0", "a,b 2", "a,b,closed", "odd", "odd", "enough"],
    );
}

#[test]
fn what_is_not_there_says_so() {
    for (module, why) in [
        ("k6/browser", "Sonagi drives no browser"),
        ("k6/net/grpc", "Sonagi speaks no gRPC"),
        ("k6/nothing", "hint: there are k6, k6/http,"),
        ("k6/x/nothing", "an extension of k6 (xk6)"),
        ("https://jslib.k6.io/ajv/6.12.5/index.js", "of https://jslib.k6.io there are k6-utils,"),
    ] {
        let seen = run(&format!("import x from '{module}'; export default () => x;"));
        let Err(Thrown::Unloaded(text)) = seen.outcome else { panic!("{:?}", seen.outcome) };
        assert!(text.contains(why), "{text}");
    }
    check(
        "import secrets from 'k6/secrets';
         export default async () => { try { await secrets.get('one'); } catch (e) { console.log(e.message.split('\\n')[0]); } }",
        &["no secret sources are configured"],
    );
}
