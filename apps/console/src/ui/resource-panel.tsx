import { useState, type ReactNode } from 'react';
import { Dialog } from './dialog.tsx';
import { Switch } from './form.tsx';
import { KeptElsewhere } from './kept-drafts.tsx';
import { Failure } from './notices.tsx';
import type { Reading } from './use-edit.tsx';

interface ResourcePanelProps<Item> {
  /** What is read of it, as a query answers. */
  read: { data: Reading<Item> | undefined; error: unknown; refetch: () => unknown };
  /** As it is called; before that is known, what it is. */
  title: string;
  onClose: () => void;
  shown: (read: Reading<Item>, onEdit: () => void) => ReactNode;
  /** The form over it, in its place; left out where it has none. */
  form?: (opened: Reading<Item>, onDone: () => void) => ReactNode;
  /** The name by which what is written in the form is kept. */
  keptAs?: string;
}

/** One thing beside its list: what it is, and the form that changes it in the same place. */
export function ResourcePanel<Item>(props: ResourcePanelProps<Item>): ReactNode {
  const { read, title, onClose, shown, form, keptAs } = props;
  const { data, error, refetch } = read;
  const [editing, setEditing] = useState<Reading<Item>>();
  return (
    <Dialog open onClose={onClose} place="side" title={title}>
      {data === undefined && error !== null && <Failure error={error} again={() => void refetch()} />}
      {data === undefined && error === null && <div aria-busy className="bones h-64" />}
      {data !== undefined && editing === undefined && (
        <>
          {keptAs !== undefined && <KeptElsewhere name={keptAs} onOpen={() => setEditing(data)} />}
          {shown(data, () => setEditing(data))}
        </>
      )}
      {editing !== undefined && form?.(editing, () => setEditing(undefined))}
    </Dialog>
  );
}

interface EnabledProps {
  read: Reading<{ enabled: boolean }>;
  label: string;
  turn: {
    isPending: boolean;
    error: unknown;
    mutate: (to: { enabled: boolean; ifMatch: string | undefined }) => void;
  };
  children?: ReactNode;
}

/** Turns it on or off, which takes effect at once. */
export function Enabled({ read: { data, etag }, label, turn, children }: EnabledProps): ReactNode {
  return (
    <>
      <Switch
        label={label}
        checked={data.enabled}
        disabled={turn.isPending}
        onChange={(enabled) => turn.mutate({ enabled, ifMatch: etag })}
      />
      {children}
      {turn.error !== null && <Failure error={turn.error} />}
    </>
  );
}
