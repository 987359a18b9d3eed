use crate::runtime::tests::check;

#[test]
fn a_shared_array_is_an_array_nobody_can_write_to() {
    check(
        "import { SharedArray } from 'k6/data';
         let made = 0;
         const make = () => { made += 1; return [{ name: 'a', list: [1] }, 'text', 7, null, new Date(0)]; };
         const array = new SharedArray('users', make), again = new SharedArray('users', make);
         export default () => {
           console.log(made, array.length, JSON.stringify(array), again[1], array[9], array[-1], Array.isArray(array));
           const tried = [
             () => { array[0] = 1; }, () => { array[0].name = 'b'; }, () => { array[0].list.push(1); }, () => array.push(1),
             () => { array.length = 0; }, () => { delete array[0]; }, () => array.sort(),
           ];
           console.log(tried.map((what) => { try { what(); return 'works'; } catch (e) { return e.name; } }).join(' '));
           console.log([...array].length, array.map((x) => typeof x).join(), array.filter(Boolean).length, array.find((x) => x === 7));
           console.log(Object.isFrozen(array[0].list), array.indexOf('text'), array.at(-2), array.slice(1, 3).join(), Object.keys(array).join());
           let seen = ''; for (const at in array) seen += at; for (const [at] of array.entries()) seen += at; console.log(seen, 2 in array, 7 in array);
         }",
        &[
            "1 5 [{\"name\":\"a\",\"list\":[1]},\"text\",7,null,\"1970-01-01T00:00:00.000Z\"] text undefined undefined true",
            "TypeError TypeError TypeError TypeError TypeError TypeError TypeError",
            "5 object,string,number,object,string 4 7",
            "true 1 null text,7 0,1,2,3,4",
            "0123401234 true false",
        ],
    );
}

#[test]
fn what_makes_no_list_makes_no_shared_array() {
    check(
        "import { SharedArray } from 'k6/data';
         const makes = [['a', () => { throw new TypeError('own'); }], ['b', () => ({ a: 1 })], ['c'], ['', () => []], ['d', async () => []]];
         const seen = makes.map(([name, make]) => { try { new SharedArray(name, make); return 'works'; } catch (e) { return e.name; } });
         export default () => {
           try { new SharedArray('late', () => []); } catch (e) { console.log(seen.join(' '), e.name); }
         }",
        &["TypeError GoError GoError GoError GoError GoError"],
    );
}

#[test]
fn an_element_may_be_nested_as_deeply_as_its_json() {
    check(
        "import { SharedArray } from 'k6/data';
         const array = new SharedArray('deep', () => [JSON.parse('['.repeat(900) + '1' + ']'.repeat(900))]);
         export default () => {
           let [value, depth] = [array[0], 0];
           for (; Array.isArray(value); value = value[0]) { depth += 1; if (!Object.isFrozen(value)) throw new Error('open'); }
           console.log(depth);
         }",
        &["900"],
    );
}
