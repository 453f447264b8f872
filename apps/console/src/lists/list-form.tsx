import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { FormFrame, partOf, type DraftFormProps } from '../ui/draft-form.tsx';
import { TextArea, TextField } from '../ui/form.tsx';
import { problemAt } from '../ui/problem-at.ts';
import type { ContactList } from './use-lists.ts';

/** The limits of the API (crm.md §2). */
const LONGEST_NAME = 100;
const LONGEST_DESCRIPTION = 1_000;

interface ListDraft {
  name: string;
  description: string;
}

export const NEW_LIST: ListDraft = { name: '', description: '' };

export function draftOf({ name, description }: ContactList): ListDraft {
  return { name, description: description ?? '' };
}

export function bodyOf({ name, description }: ListDraft): { name: string; description: string | null } {
  return { name: name.trim(), description: description.trim() === '' ? null : description };
}

/** The name of a list, and what it is for. */
export function ListForm(props: DraftFormProps<ListDraft>): ReactNode {
  const t = useTranslations('lists');
  const { draft, set, error } = partOf(props);
  return (
    <FormFrame {...props}>
      <TextField
        label={t('name')}
        required
        maxLength={LONGEST_NAME}
        value={draft.name}
        error={problemAt(error, '/name')}
        onChange={({ target }) => set({ name: target.value })}
      />
      <TextArea
        label={t('description')}
        maxLength={LONGEST_DESCRIPTION}
        value={draft.description}
        error={problemAt(error, '/description')}
        onChange={({ target }) => set({ description: target.value })}
      />
      {props.children}
    </FormFrame>
  );
}
