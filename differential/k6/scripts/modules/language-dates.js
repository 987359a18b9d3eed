// Dates as texts
// env: TZ=Europe/Berlin
export const options = { iterations: 1 };
export default function () {
  for (const date of [new Date(Date.UTC(2024, 0, 2, 3, 4, 5, 6)), new Date(Date.UTC(2024, 6, 2, 15, 4, 5)), new Date(NaN)]) {
    console.log(String(date), `${date}`, date + '', date.toTimeString(), date.toDateString(), date.toUTCString());
    console.log(date.toLocaleString(), date.toLocaleDateString(), date.toLocaleTimeString(), date.toLocaleTimeString('en-US'));
  }
  console.log(Date.parse(String(new Date(0))));
}
