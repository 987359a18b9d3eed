// TypeScript
// quick
import http, { type RefinedResponse, type ResponseType } from 'k6/http';
import type { Options } from 'k6/options';
import { check } from 'k6';
import { typed } from '../_files/lib/typed.ts';
enum Colour { Red, Green = 5 }
interface Person { name: string; id: number }
export const options: Options = { iterations: 1 };
export default function (): void {
  const response: RefinedResponse<ResponseType> = http.get(`${__ENV.TARGET}/person`);
  const person = response.json() as unknown as Person;
  check(response, { ok: (r) => r!.status === 200 });
  console.log(person.name satisfies string, Colour.Green, Colour[0], typed<number>(3));
}
