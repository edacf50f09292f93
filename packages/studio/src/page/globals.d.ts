/** Version of this package, written in by the build. */
declare const PAGE_VERSION: string;
