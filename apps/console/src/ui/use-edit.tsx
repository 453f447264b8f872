import { ProblemError } from '@customer-platform/client';
import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { Conflict } from './conflict.tsx';
import { conflictsOf, mergedFields } from './merge-fields.ts';
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
  onSaved: (now: Item, reading: Reading<Item>) => void;
  /** Gives the form what is stored, in place of what was written. */
  onTheirs: (now: Item, reading: Reading<Item>) => void;
}

interface Edit {
  save: () => void;
  busy: boolean;
  error: unknown;
  /** What was refused, or what somebody else has changed meanwhile with the choice that it leaves. */
  shown: ReactNode;
}

interface Saved<Item> {
  reading: Reading<Item>;
  /** It holds what somebody else has changed, too. */
  merged: boolean;
}

/** A form over something that others change, too: by its ETag; where somebody was first, keeps both, and lets choose of the fields that both have changed. */
export function useEdit<Item, Body extends object>(options: EditOptions<Item, Body>): Edit {
  const { opened, body, bodyOf, read, write, nameOf, onSaved, onTheirs } = options;
  const [base, setBase] = useState(opened);
  const [meanwhile, setMeanwhile] = useState<Reading<Item>>();
  /** Lists what both have changed, to something else. */
  const differences = (now: Item, mine: Body) => {
    const [were, are] = [bodyOf(base.data), bodyOf(now)];
    return conflictsOf(were, are, mine).map((field) => ({
      name: nameOf(field),
      theirs: said(are[field]),
      mine: said(mine[field]),
    }));
  };
  /** Writes what was changed here over what is stored by now. */
  const writeOver = async (now: Reading<Item>): Promise<Saved<Item>> => ({
    reading: await write(mergedFields(bodyOf(base.data), bodyOf(now.data), body), now),
    merged: true,
  });
  const saving = useMutation({
    mutationFn: async (on: Reading<Item>): Promise<Saved<Item> | undefined> => {
      try {
        if (on !== base) return await writeOver(on);
        return { reading: await write(body, on), merged: false };
      } catch (error) {
        if (!(error instanceof ProblemError) || error.code !== 'etag_mismatch') throw error;
        const now = await read();
        // Of different fields, or to the same: both changes are kept, and nobody has to choose.
        if (differences(now.data, body).length === 0) return writeOver(now);
        setMeanwhile(now);
        return undefined;
      }
    },
    onSuccess: (saved) => {
      if (saved === undefined) return;
      const { reading, merged } = saved;
      setMeanwhile(undefined);
      setBase(reading);
      // A form that stays open would take back the other's fields with its next change.
      if (merged) onTheirs(reading.data, reading);
      onSaved(reading.data, reading);
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
            onTheirs(meanwhile.data, meanwhile);
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
