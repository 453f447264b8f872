/** Hands bytes over as a file of this name. */
export function saveFile(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // Once the browser has taken it over; at once would take it away from some.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
