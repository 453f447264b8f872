import { useNavigate, useSearch } from '@tanstack/react-router';
import { Plus, type LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { useAddressBeside } from './address-beside.ts';
import { Button } from './button.tsx';
import { DataTable, type Column } from './data-table.tsx';
import { FilterSelect } from './filters.tsx';
import { Checkbox } from './form.tsx';
import type { List } from './list.ts';
import { NothingMatches } from './notices.tsx';
import { Page, type Section } from './page.tsx';

/** In place of an id in the address: the form of another one. */
const NEW = 'new';

/** Changes what a page keeps in its address; `replace` where no step back is wanted, as of filters. */
export function useChangeOf<Search extends object>(): (changed: Search, replace?: boolean) => void {
  const navigate = useNavigate();
  return (changed, replace = false) =>
    void navigate({
      to: '.',
      search: (before: object) => ({ ...before, ...changed }),
      replace,
      resetScroll: false,
    });
}

/** What the form of another one is given. */
export interface NewFormProps {
  onClose: () => void;
  /** Shows what was made in its place. */
  onMade: (made: { id: string }) => void;
}

interface AddButtonProps {
  label: string;
  onClick: () => void;
  icon?: LucideIcon;
}

/** Begins another one. */
export function AddButton({ label, onClick, icon: Icon = Plus }: AddButtonProps): ReactNode {
  return (
    <Button look="main" onClick={onClick}>
      <Icon aria-hidden className="size-4" />
      {label}
    </Button>
  );
}

/** Opens the form of another one, wherever it stands on the page of a list. */
export function OpenForm(props: Omit<AddButtonProps, 'onClick'>): ReactNode {
  const change = useChangeOf<{ open: string }>();
  return <AddButton {...props} onClick={() => change({ open: NEW })} />;
}

interface ListPageProps {
  /** A section of a page that several share; else it is a page of its own. */
  frame?: typeof Section;
  title: string;
  lead: string;
  /** What stands beside the list, by the address. */
  open: string | undefined;
  /** Where one may add to it: how its button is called. */
  add: string | false;
  /** Stands in place of that button. */
  actions?: ReactNode;
  form?: (props: NewFormProps) => ReactNode;
  panel?: (id: string, onClose: () => void) => ReactNode;
  children: ReactNode;
}

/** A page of a list, with one of its rows beside it, or the form of another one. */
export function ListPage(props: ListPageProps): ReactNode {
  const { frame: Frame = Page, title, lead, open, add, form, panel, children } = props;
  const { actions = add !== false && <OpenForm label={add} /> } = props;
  const change = useChangeOf<{ open: string | undefined }>();
  const close = (): void => change({ open: undefined });
  return (
    <Frame title={title} lead={lead} actions={actions}>
      {children}
      {open === NEW &&
        add !== false &&
        form?.({ onClose: close, onMade: ({ id }) => change({ open: id }, true) })}
      {open !== undefined && open !== NEW && panel?.(open, close)}
    </Frame>
  );
}

/** Shows what was deleted, too: what one looks for is not gone. */
export function DeletedFilter({ label }: { label: string }): ReactNode {
  const search: { deleted?: unknown } = useSearch({ strict: false });
  const change = useChangeOf<{ deleted: true | undefined }>();
  return (
    <Checkbox
      label={label}
      checked={search.deleted === true}
      onChange={({ target }) => change({ deleted: target.checked ? true : undefined }, true)}
    />
  );
}

interface EnabledFilterProps {
  label: string;
  on: string;
  off: string;
}

/** What is on, or off, or both. */
export function EnabledFilter({ label, on, off }: EnabledFilterProps): ReactNode {
  const search: { enabled?: string } = useSearch({ strict: false });
  const change = useChangeOf<{ enabled: string | undefined }>();
  return (
    <FilterSelect
      label={label}
      value={search.enabled}
      onChange={(enabled) => change({ enabled }, true)}
      options={[
        { value: 'true', label: on },
        { value: 'false', label: off },
      ]}
    />
  );
}

interface RowsProps<Item extends { id: string }> {
  label: string;
  list: List<Item>;
  columns: readonly Column<Item>[];
  /** What stands beside them, by the address. */
  open: string | undefined;
  /** Whether filters leave something out. */
  filtered: boolean;
  /** As in the address, and what changes it. */
  sort?: string;
  onSort?: (sort: string) => void;
  /** Shown where there is nothing yet. */
  empty: ReactNode;
}

/** The rows of such a page: each opens beside them. */
export function Rows<Item extends { id: string }>({
  open,
  filtered,
  empty,
  ...table
}: RowsProps<Item>): ReactNode {
  const change = useChangeOf<{ open: string }>();
  const addressBeside = useAddressBeside();
  return (
    <DataTable
      {...table}
      keyOf={({ id }) => id}
      chosen={open}
      onOpen={({ id }) => change({ open: id })}
      addressOf={({ id }) => addressBeside(id)}
      empty={filtered ? <NothingMatches /> : empty}
    />
  );
}
