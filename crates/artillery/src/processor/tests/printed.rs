//! The output of functions.

use super::*;

#[test]
fn a_line_that_never_ends_is_heard_in_pieces_and_letters_stay_whole() {
    on_a_shard(async || {
        let script = Script::new(
            "p.cjs",
            "exports.dots = async () => { for (let n = 0; n < 20_000; n += 1) process.stdout.write('.'); };
             exports.bytes = async () => { for (const byte of Buffer.from('소나기\\n')) process.stderr.write(Buffer.from([byte])); };",
        );
        let sidecar = started(&script, "p.cjs").await;
        call(&sidecar, 1, "dots", json!({})).await;
        call(&sidecar, 1, "bytes", json!({})).await;
        let pieces = |said: Vec<Said>| -> Vec<(bool, usize)> {
            let piece = |said| match said {
                Said::Printed { is_error, text } => (is_error, text.chars().count()),
                other => panic!("{other:?}"),
            };
            said.into_iter().map(piece).collect()
        };
        assert_eq!(pieces(sidecar.take_said()), [(false, 8193), (false, 8193), (true, 3)]);
        sidecar.finish().await;
        assert_eq!(pieces(sidecar.take_said()), [(false, 20_000 - 2 * 8193)]);
    });
}

#[test]
fn what_functions_print_is_heard_whole_by_its_stream_however_they_print_it() {
    on_a_shard(async || {
        let script = Script::new(
            "p.cjs",
            "exports.print = async () => {
               console.error('wrong'); process.stdout.write('one '); process.stdout.write('line\\nand'); console.log(' more');
               console.group('rooms'); console.info('inner'); console.groupEnd(); artillery.log('by', 'artillery'); process.stdout.write('end');
             };",
        );
        let sidecar = started(&script, "p.cjs").await;
        call(&sidecar, 1, "print", json!({})).await;
        sidecar.finish().await;
        let printed = [
            (true, "wrong"),
            (false, "one line"),
            (false, "and more"),
            (false, "rooms"),
            (false, "  inner"),
            (false, "by artillery"),
            (false, "end"),
        ];
        let printed = printed.map(|(is_error, text)| Said::Printed { is_error, text: text.to_owned() });
        assert_eq!(sidecar.take_said(), printed);
    });
}
