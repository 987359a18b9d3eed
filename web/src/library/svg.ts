// Drawings of a few shapes, which need no chart.

export function draw(tag: string, attributes: Record<string, string | number>, title?: string): SVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag) as SVGElement;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  if (title !== undefined) {
    const told = draw('title', {});
    told.textContent = title;
    element.append(told);
  }
  return element;
}

/** A drawing of this size, told in words as well. */
export function drawing(width: number, height: number, className: string, label: string): SVGElement {
  const size = { width, height, viewBox: `0 0 ${width} ${height}` };
  return draw('svg', { ...size, class: className, role: 'img', 'aria-label': label });
}
