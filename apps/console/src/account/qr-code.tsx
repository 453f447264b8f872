import type { ReactNode } from 'react';
import { encode } from 'uqr';
import { qrPath } from './qr-path.ts';

/** Light squares around the code, as readers need them (ISO/IEC 18004). */
const QUIET_ZONE = 4;

/** A text for a camera: black on white in either theme. */
export function QrCode({ text, label }: { text: string; label: string }): ReactNode {
  const { data, size } = encode(text, { ecc: 'M', border: QUIET_ZONE });
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
      className="size-48 shrink-0 rounded-control"
    >
      <rect width={size} height={size} fill="#ffffff" />
      <path d={qrPath(data)} fill="#000000" />
    </svg>
  );
}
