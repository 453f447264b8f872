import type { ReactNode } from 'react';
import { CopyButton } from './copy-button.tsx';

/** A value as JSON: text, whatever it says. */
export function Json({ value, label }: { value: unknown; label: string }): ReactNode {
  const text = JSON.stringify(value, null, 2) ?? '';
  return <Code text={text} label={label} />;
}

/** Lines to read and to copy. */
export function Code({ text, label }: { text: string; label: string }): ReactNode {
  return (
    <div className="relative rounded-control border border-line bg-ground">
      <pre
        role="region"
        tabIndex={0}
        aria-label={label}
        className="max-h-96 overflow-auto p-3 pr-12 font-mono text-xs whitespace-pre-wrap"
      >
        {text}
      </pre>
      <div className="absolute top-1.5 right-1.5">
        <CopyButton text={text} />
      </div>
    </div>
  );
}
