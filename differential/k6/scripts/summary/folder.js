// handleSummary's files in folders: one that is there, one that is not
// leaves: _files/made.txt none/made.txt
export const options = { iterations: 1 };
export default function () {}
export function handleSummary() { return { '_files/made.txt': 'made', 'none/made.txt': 'made' }; }
