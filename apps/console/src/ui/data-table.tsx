import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown, ArrowUp } from 'lucide-react';
import { useEffect, useState, type KeyboardEvent, type MouseEvent, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button } from './button.tsx';
import type { List } from './list.ts';
import { Failure } from './notices.tsx';

const ROW_PX = 40;
const ROWS_BEYOND = 12;
const BONES = 8;

/** One column; `sort` names the field by which the API sorts it. */
export interface Column<Item> {
  id: string;
  header: string;
  cell: (item: Item) => ReactNode;
  sort?: string;
  /** At the right, as figures are. */
  end?: boolean;
  /** Never the link to what a row opens: its cells hold a link of their own, or may be empty. */
  plain?: boolean;
  /** Room that it takes of what is left; 1 unless given. */
  grow?: number;
}

interface DataTableProps<Item> {
  /** What the table lists; read out, not shown. */
  label: string;
  list: List<Item>;
  columns: readonly Column<Item>[];
  keyOf: (item: Item) => string;
  /** Shown where there is nothing. */
  empty: ReactNode;
  onOpen?: (item: Item) => void;
  /** The address of what a row opens, `/o/…`: a row is a link, too, which opens in another tab like any other. */
  addressOf?: (item: Item) => string;
  /** As in the address: `-created_at`. */
  sort?: string;
  onSort?: (sort: string) => void;
  /** The key of the row that is open beside. */
  chosen?: string | undefined;
}

/** A list of the API as a table: grows as one scrolls, draws only what is in sight, and is gone through by j and k. */
export function DataTable<Item>(props: DataTableProps<Item>): ReactNode {
  const { label, list, columns, empty } = props;
  // As state: rows that come together with what they scroll in are drawn once it is there.
  const [scroller, setScroller] = useState<HTMLDivElement | null>(null);
  if (list.error != null && list.items.length === 0) return <Failure error={list.error} again={list.again} />;
  if (!list.loading && list.items.length === 0) return empty;
  return (
    <div
      ref={setScroller}
      role="region"
      aria-label={label}
      tabIndex={0}
      className="@container relative max-h-[max(24rem,calc(100vh-14rem))] overflow-auto rounded-panel border border-line"
    >
      {list.outdated && <Outdated onShow={() => showFromTop(list, scroller)} />}
      <table
        aria-label={label}
        aria-busy={list.loading}
        aria-rowcount={-1}
        className="w-full border-separate border-spacing-0"
      >
        <Head {...props} />
        {list.loading ? <Bones columns={columns.length} /> : <Body {...props} scroller={scroller} />}
      </table>
      <More list={list} />
    </div>
  );
}

/** Above the rows, so that none of them moves away from under a pointer: it lies over the first. */
function Outdated({ onShow }: { onShow: () => void }): ReactNode {
  const t = useTranslations('ui');
  return (
    <div role="status" className="sticky top-10 left-0 z-30 h-0">
      <div className="mx-auto flex w-fit items-center gap-2 rounded-panel border border-line bg-raised px-3 py-1 shadow-lg">
        {t('changedMeanwhile')}
        <Button look="quiet" onClick={onShow}>
          {t('showNew')}
        </Button>
      </div>
    </div>
  );
}

function showFromTop(list: { again: () => void }, scroller: HTMLElement | null): void {
  scroller?.scrollTo({ top: 0 });
  list.again();
}

function Head<Item>({ columns, sort, onSort }: DataTableProps<Item>): ReactNode {
  const t = useTranslations('ui');
  return (
    <thead>
      <tr>
        {columns.map(({ id, header, sort: field, end }) => {
          const direction = sort === field ? 'ascending' : sort === `-${field}` ? 'descending' : undefined;
          const Arrow = direction === 'ascending' ? ArrowUp : ArrowDown;
          return (
            <th
              key={id}
              scope="col"
              aria-sort={field === undefined ? undefined : (direction ?? 'none')}
              className={`sticky top-0 z-10 border-b border-line bg-ground px-3 py-2 text-xs font-medium whitespace-nowrap text-soft first:left-0 first:z-20 ${end ? 'text-end' : ''}`}
            >
              {field === undefined || onSort === undefined ? (
                header
              ) : (
                <button
                  type="button"
                  className="inline-flex items-center gap-1 hover:text-ink"
                  title={t('sort')}
                  onClick={() => onSort(direction === 'descending' ? field : `-${field}`)}
                >
                  {header}
                  {direction !== undefined && <Arrow aria-hidden className="size-3" />}
                </button>
              )}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

function Body<Item>(props: DataTableProps<Item> & { scroller: HTMLDivElement | null }): ReactNode {
  const { list, columns, keyOf, onOpen, addressOf, chosen, scroller } = props;
  const rows = useVirtualizer({
    count: list.items.length,
    getScrollElement: () => scroller,
    estimateSize: () => ROW_PX,
    overscan: ROWS_BEYOND,
  });
  const shown = rows.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  const { hasMore, more } = list;
  useEffect(() => {
    if (hasMore && last >= list.items.length - ROWS_BEYOND) more();
  }, [hasMore, last, list.items.length, more]);
  const before = shown[0]?.start ?? 0;
  const after = rows.getTotalSize() - (shown.at(-1)?.end ?? 0);
  return (
    <tbody onKeyDown={(event) => goThrough(event, (index) => rows.scrollToIndex(index))}>
      <Gap height={before} columns={columns.length} />
      {shown.map(({ index }) => {
        const item = list.items[index];
        if (item === undefined) return null;
        const key = keyOf(item);
        const href = addressOf && `/console${addressOf(item)}`;
        const open = (event: MouseEvent | KeyboardEvent): void => {
          if (href === undefined || !wantsTab(event)) onOpen?.(item);
          // A link does that by itself.
          else if ((event.target as HTMLElement).closest('a') === null)
            window.open(href, '_blank', 'noopener');
        };
        return (
          <tr
            key={key}
            data-index={index}
            tabIndex={onOpen === undefined ? undefined : 0}
            aria-rowindex={index + 2}
            aria-current={chosen === key ? 'true' : undefined}
            onClick={open}
            onAuxClick={(event) => event.button === MIDDLE && href !== undefined && open(event)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || event.target !== event.currentTarget) return;
              // What opens has the focus at once: the same press would be its first.
              event.preventDefault();
              open(event);
            }}
            className={`group h-10 -outline-offset-2 ${onOpen === undefined ? '' : 'cursor-pointer hover:bg-hover'} aria-current:bg-accent-soft`}
          >
            {columns.map(({ id, cell, end, plain = false }, place) => (
              // The first stays in place: never so wide that it would cover all others.
              <td
                key={id}
                className={`max-w-[28rem] truncate border-b border-line bg-canvas px-3 group-hover:bg-hover group-aria-current:bg-accent-soft first:sticky first:left-0 first:max-w-[min(28rem,66cqw)] ${end ? 'text-end tabular-nums' : ''}`}
              >
                {href !== undefined && place === 0 && !plain ? (
                  <RowLink href={href}>{cell(item)}</RowLink>
                ) : (
                  cell(item)
                )}
              </td>
            ))}
          </tr>
        );
      })}
      <Gap height={after} columns={columns.length} />
    </tbody>
  );
}

const MIDDLE = 1;

/** Tells whether a press asks for another tab. */
function wantsTab(event: MouseEvent | KeyboardEvent): boolean {
  return event.metaKey || event.ctrlKey || ('button' in event && event.button === MIDDLE);
}

/** Renders what stands first in a row as a link; the row itself is what keys go to. */
function RowLink({ href, children }: { href: string; children: ReactNode }): ReactNode {
  return (
    <a
      href={href}
      tabIndex={-1}
      className="block truncate"
      // The row opens it in this tab.
      onClick={(event) => !wantsTab(event) && event.preventDefault()}
    >
      {children}
    </a>
  );
}

function Gap({ height, columns }: { height: number; columns: number }): ReactNode {
  if (height <= 0) return null;
  return (
    <tr aria-hidden>
      <td colSpan={columns} style={{ height, padding: 0 }} />
    </tr>
  );
}

function Bones({ columns }: { columns: number }): ReactNode {
  return (
    <tbody aria-hidden>
      {Array.from({ length: BONES }, (_, row) => (
        <tr key={row} className="h-10">
          {Array.from({ length: columns }, (__, column) => (
            <td key={column} className="border-b border-line px-3">
              <div className="bones h-3 w-2/3" />
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  );
}

function More<Item>({ list }: { list: List<Item> }): ReactNode {
  const t = useTranslations('ui');
  if (list.error != null && list.items.length > 0) return <Failure error={list.error} again={list.again} />;
  if (!list.hasMore) return null;
  return (
    <div className="sticky left-0 p-2 text-center">
      <Button look="quiet" busy={list.loadingMore} onClick={list.more}>
        {list.loadingMore ? t('loading') : t('more')}
      </Button>
    </div>
  );
}

/** `j` and `k`, and the arrows, move from row to row. */
function goThrough(event: KeyboardEvent<HTMLElement>, scrollTo: (index: number) => void): void {
  const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
  const row = (event.target as HTMLElement).closest('tr');
  if (step === undefined || row === null || event.target !== row) return;
  const index = Number(row.dataset['index']) + step;
  const next = row.parentElement?.querySelector<HTMLElement>(`tr[data-index="${index}"]`);
  if (!next) return;
  event.preventDefault();
  scrollTo(index);
  next.focus();
}
