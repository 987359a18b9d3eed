// Decorators of TypeScript, as with `experimentalDecorators`
// patience: 5
const logged = (target: object, name: string, of: PropertyDescriptor): PropertyDescriptor => ({ ...of, value(...given: unknown[]) { console.log('called', name); return of.value.apply(this, given); } });
const named = (name: string) => (target: Function): void => { Object.defineProperty(target, 'called', { value: name }); };
@named('a class')
class Flow { @logged next(step: number): number { return step + 1; } }
export const options = { iterations: 1 };
export default function (): void { console.log(new Flow().next(1), (Flow as unknown as { called: string }).called); }
