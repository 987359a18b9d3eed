// --secret-source: secrets by their names, which the log does not tell
// flags: --secret-source mock=default,one=first,two=b=c --secret-source mock=three=third,name=other
import secrets from 'k6/secrets';
export const options = { iterations: 1 };
export default async function () {
  const other = await secrets.source('other');
  console.log(await secrets.get('one'), (await secrets.get('two')).length, await other.get('three'));
  for (const asked of [() => secrets.get('none'), () => secrets.source('nowhere')].values()) {
    try { await (await asked()).get('one'); } catch { console.log('rejects'); }
  }
  throw new Error('first');
}
