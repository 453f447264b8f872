import { ProblemError } from '@customer-platform/client';
import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { Conflict } from './conflict.tsx';
import { Failure } from './notices.tsx';

/** One reading of something, and the tag that a change of it names. */
export interface Reading<Item> {
  data: Item;
  etag: string | undefined;
}

export interface EditOptions<Item, Body extends object> {
  opened: Reading<Item>;
  /** What the form says now. */
  body: Body;
  /** What a form that nobody touched would write: it is compared field by field. */
  bodyOf: (item: Item) => Body;
  read: () => Promise<Reading<Item>>;
  /** Changes what was read, and only that. */
  write: (body: Body, on: Reading<Item>) => Promise<Reading<Item>>;
  /** A field as the form calls it. */
  nameOf: (field: keyof Body & string) => string;
  onSaved: (now: Item) => void;
  /** Gives the form what is stored, in place of what was written. */
  onTheirs: (now: Item) => void;
}

interface Edit {
  save: () => void;
  busy: boolean;
  error: unknown;
  /** What was refused, or what somebody else has changed meanwhile with the choice that it leaves. */
  shown: ReactNode;
}

/** A form over something that others change, too: by its ETag; where somebody was first, says what and lets choose. */
export function useEdit<Item, Body extends object>(options: EditOptions<Item, Body>): Edit {
  const { opened, body, bodyOf, read, write, nameOf, onSaved, onTheirs } = options;
  const [base, setBase] = useState(opened);
  const [meanwhile, setMeanwhile] = useState<Reading<Item>>();
  /** What somebody else has changed to something other than what is written here. */
  const differences = (now: Item, mine: Body) => {
    const [were, are] = [bodyOf(base.data), bodyOf(now)];
    const fields = Object.keys(mine) as (keyof Body & string)[];
    return fields
      .map((field) => ({
        name: nameOf(field),
        was: said(were[field]),
        theirs: said(are[field]),
        mine: said(mine[field]),
      }))
      .filter(({ was, theirs, mine: own }) => theirs !== was && theirs !== own);
  };
  const saving = useMutation({
    mutationFn: async (on: Reading<Item>) => {
      try {
        return await write(body, on);
      } catch (error) {
        if (!(error instanceof ProblemError) || error.code !== 'etag_mismatch') throw error;
        const now = await read();
        // What was changed is not in this form, or it is the same: nobody has to choose.
        if (differences(now.data, body).length === 0) return write(body, now);
        setMeanwhile(now);
        return undefined;
      }
    },
    onSuccess: (written) => {
      if (written === undefined) return;
      setMeanwhile(undefined);
      setBase(written);
      onSaved(written.data);
    },
  });
  const shown = (
    <>
      {saving.error !== null && <Failure error={saving.error} />}
      {meanwhile !== undefined && (
        <Conflict
          fields={differences(meanwhile.data, body)}
          busy={saving.isPending}
          onTheirs={() => {
            setBase(meanwhile);
            setMeanwhile(undefined);
            onTheirs(meanwhile.data);
          }}
          onMine={() => saving.mutate(meanwhile)}
        />
      )}
    </>
  );
  return { save: () => saving.mutate(base), busy: saving.isPending, error: saving.error, shown };
}

function said(value: unknown): string {
  if (value === null || value === undefined) return '–';
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}
