import { ENCODINGS, type Encoding } from './built-files.js';

/** The best encoding that `Accept-Encoding` takes (RFC 9110 §12.5.3); undefined for the content as it is. */
export function acceptedEncoding(header: string | undefined): Encoding | undefined {
  if (header === undefined) return undefined;
  const weights = new Map<string, number>();
  for (const item of header.split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
    const q = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    weights.set(name, q === undefined ? 1 : Number(q) || 0);
  }
  const others = weights.get('*') ?? 0;
  return ENCODINGS.find((encoding) => (weights.get(encoding) ?? others) > 0);
}
