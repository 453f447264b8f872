import { ProblemError } from '@customer-platform/client';
import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button } from '../ui/button.tsx';
import { Note } from '../ui/notices.tsx';
import { useSay } from '../ui/toasts.tsx';
import { differencesOf } from './differences.ts';
import { Refused } from './refused.tsx';
import { useChanged } from './use-acts.tsx';

/** One reading of something, and the tag that a change of it names. */
export interface Reading<Item> {
  data: Item;
  etag: string | undefined;
}

interface EditOptions<Item, Change> {
  opened: Reading<Item>;
  /** The change that the form asks for; undefined where it changes nothing. */
  change: Change | undefined;
  read: () => Promise<Reading<Item>>;
  /** Answers how it is then. `wrote` tells of a step before the last, so that a repeat goes on from there. */
  write: (
    change: Change,
    ifMatch: string | undefined,
    wrote: (reading: Reading<Item>) => void,
  ) => Promise<Reading<Item>>;
  onSaved: () => void;
  /** Gives the form what is there now, in place of what was written. */
  onTheirs: (now: Item) => void;
  done: string;
}

interface Edit {
  save: () => void;
  busy: boolean;
  error: unknown;
  /** What was refused, or what somebody else has changed meanwhile and the choice that it leaves. */
  shown: ReactNode;
}

/** Changes what was read, and only that: where it has changed since, says what, and lets choose. */
export function useEdit<Item extends object, Change>(options: EditOptions<Item, Change>): Edit {
  const { opened, change, read, write, onSaved, onTheirs, done } = options;
  const say = useSay();
  const changed = useChanged();
  const [now, setNow] = useState<Reading<Item>>();
  const [base, setBase] = useState(opened);
  const saving = useMutation({
    mutationFn: async (etag: string | undefined) => {
      if (change === undefined) return false;
      try {
        setBase(await write(change, etag, setBase));
        return true;
      } catch (error) {
        if (!(error instanceof ProblemError) || error.code !== 'etag_mismatch') throw error;
        const reading = await read();
        if (differencesOf(base.data, reading.data).length > 0) {
          setNow(reading);
          return false;
        }
        // Touched, and as it was: a new secret, for one.
        setBase(await write(change, reading.etag, setBase));
        return true;
      }
    },
    onSuccess: async (saved) => {
      if (!saved) return;
      say(done);
      onSaved();
      await changed();
    },
  });
  const shown = (
    <>
      <Refused error={saving.error} />
      {now !== undefined && (
        <Meanwhile
          before={base.data}
          now={now.data}
          onMine={() => {
            setBase(now);
            setNow(undefined);
            saving.mutate(now.etag);
          }}
          onTheirs={() => {
            setBase(now);
            setNow(undefined);
            onTheirs(now.data);
          }}
        />
      )}
    </>
  );
  return { save: () => saving.mutate(base.etag), busy: saving.isPending, error: saving.error, shown };
}

interface MeanwhileProps {
  before: object;
  now: object;
  onMine: () => void;
  onTheirs: () => void;
}

function Meanwhile({ before, now, onMine, onTheirs }: MeanwhileProps): ReactNode {
  const t = useTranslations('organization');
  return (
    <Note tone="warn" unsent>
      <p className="font-medium">{t('meanwhile')}</p>
      <ul className="my-2 flex flex-col gap-1 text-xs">
        {differencesOf(before, now).map(({ field, before: was, now: is }) => (
          <li key={field}>
            <code className="font-mono">{field}</code>: {was} → {is}
          </li>
        ))}
      </ul>
      <div className="flex flex-wrap gap-2">
        <Button onClick={onTheirs}>{t('takeTheirs')}</Button>
        <Button look="main" onClick={onMine}>
          {t('saveMine')}
        </Button>
      </div>
    </Note>
  );
}
