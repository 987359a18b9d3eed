// k6/html: pseudo-classes of what a form is filled in with
import { parseHTML } from 'k6/html';
export const options = { iterations: 1 };
export default function () {
  const page = parseHTML('<form><input disabled name=a><input name=b type=checkbox checked><select><option selected>1<option disabled>2</select><button>x</button><fieldset disabled><input name=c></fieldset><a href=x>l</a><p></p><textarea></textarea></form>');
  for (const selector of [':checked', 'input:checked', 'input:not(:checked)', 'option:checked', ':disabled', ':enabled', ':input', ':root', '[name="a:checked"]', 'p:empty', 'form:has(p)']) console.log(selector, page.find(selector).size());
  console.log(JSON.stringify(page.find('nothing').html()), JSON.stringify(parseHTML(null).text()), JSON.stringify(parseHTML().text()));
}
