// The sample of a line in a chart's key: its colour and its dash, as they are drawn.

const SVG = 'http://www.w3.org/2000/svg';

export function swatch(style: number, dash: readonly number[]): SVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('width', '22');
  svg.setAttribute('height', '8');
  svg.setAttribute('aria-hidden', 'true');
  const line = document.createElementNS(SVG, 'line');
  for (const [name, value] of [
    ['x1', '0'],
    ['x2', '22'],
    ['y1', '4'],
    ['y2', '4'],
  ])
    line.setAttribute(name, value);
  line.setAttribute('class', `s${style % 8}`);
  line.setAttribute('stroke-width', '2');
  if (dash.length > 0) line.setAttribute('stroke-dasharray', dash.join(' '));
  svg.append(line);
  return svg;
}
