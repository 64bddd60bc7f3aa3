/** What people see and touch, in their words and in those of who builds it. */
import type { Topics } from "../topics.ts";

export const SCREEN_SCENES: Topics = {
  "page jumps": `page jumps, jumps while loading, jumping, layout shift, cls, cumulative layout shift, content moves,
    moves down, reserve space, aspect ratio box, width and height attributes, skeleton placeholder, shifting content,
    flicker on load, font swap`,
  "first load": `first visit, first load, initial load, takes forever to show, slow to load, landing is slow, blank
    for seconds, white screen, time to interactive, tti, lcp, fcp, largest contentful paint, lighthouse, core web
    vitals, bundle, bundle size, js chunks, chunk, chunks, code splitting, split chunks, lazy load, lazy-load, lazy
    loading, tree shaking, moment.js, hero image, hero images, preload, prefetch, critical css, megabytes of
    javascript, 3g, slow connection, gzip, brotli, webpack, vite, rollup, esbuild, homepage, too large`,
  "janky scrolling": `janky, jank, scroll, scrolling, stutters, stutter, choppy, laggy, dropped frames, frame drops,
    60 fps, virtualised, virtualized, virtual list, windowing, react-window, long list, long lists, thousand rows,
    infinite scroll, scroll position, passive listener, requestanimationframe, layout thrashing, freezes the tab, lags
    while typing`,
  "re-rendering": `re-render, rerender, rerenders, usememo, memo, usecallback, render count, unnecessary renders,
    reconcile, virtual dom, change detection, onpush, signals, selector, reselect, profiler flame, typing lag,
    keystroke`,
  "dark mode": `dark mode, dark theme, night mode, light theme, theme, theming, colour scheme, color scheme,
    prefers-color-scheme, too bright, blinding, at night, eyes hurt, colours feel off, palette, css variables, design
    tokens, contrast in dark, black background, theme toggle`,
  "reading with ears": `screen reader, blind, blind users, voiceover, talkback, nvda, jaws, aria, aria-label, alt
    text, accessible name, accessibility, a11y, wcag, visually impaired, unlabelled, role attribute, announced, live
    region, assistive`,
  "without a mouse": `keyboard only, without a mouse, without mouse, tab order, tabindex, focus trap, focus ring,
    focus outline, focus visible, focus management, keyboard navigation, skip link, roving, escape closes, reachable
    by keyboard, motor impaired`,
  "hard to see": `contrast, contrast ratio, hard to read, can't read, too small, tiny text, font size, larger text,
    zoom, colour blind, color blind, colour-blind, red green, grandma, elderly, older people, low vision, legible,
    legibility, pale grey, readability, reading glasses`,
  "narrow screens": `responsive, media query, breakpoint, breakpoints, small screens, narrow screen, phone screen,
    mobile layout, overflows, overflow, cut off, cropped, squeezed, hamburger, viewport, tablet layout, wraps badly,
    sidebar collapses, off the screen, horizontal scrollbar, container query, flexbox, flex container, css grid, small
    phones`,
  "pop-ups": `modal, dialog, popup, pop-up, overlay, backdrop, lightbox, drawer, popover, tooltip, toast, snackbar,
    banner, cookie banner, cookie notice, z-index, stacking, behind the, click outside, close button, confirm dialog,
    notice, alert box, stacking context, overlaps, portal`,
  "form errors": `form validation, validation, validate, invalid input, error message, nonsense, refuse, reject,
    rejects input, required field, mandatory, zod, yup, joi, formik, react hook form, field error, wrong format,
    sanity check, plausibility, impossible values, dates of birth, date of birth, birthday, birthdate, in the future,
    postcode validation, phone number format, input mask`,
  "lost input": `unsaved, unsaved changes, unsaved input, lost input, loses what i typed, typed text is gone, draft,
    drafts, autosave, auto-save, auto save, restore form, beforeunload, leave page warning, forgets everything, fill
    in again, form state, session storage, after reload, accidentally closed, progress lost`,
  "character counting": `character limit, characters left, text length, max length, maxlength, grapheme, graphemes,
    emoji, emojis, utf-16, code units, code points, surrogate, bio, profile text, tweet length, too early, combining
    characters, string length, intl.segmenter`,
  "garbled letters": `garbled, mojibake, encoding, utf-8, utf8, latin-1, iso-8859, umlaut, umlauts, accents, accented,
    question marks, weird characters, strange characters, special characters, charset, bom, byte order mark,
    diacritics, unicode, normalisation nfc, broken letters, ä, é`,
  "other languages": `translate, translation, translations, localise, localize, localisation, localization, i18n,
    l10n, internationalisation, language switch, locale, locales, translation keys, untranslated, missing translation,
    gettext, po file, crowdin, lokalise, phrase, german, french, polish, spanish, italian, dutch, portuguese,
    japanese, chinese, language file, plural forms, icu message, english text, foreign users, speak`,
  "right to left": `rtl, right to left, right-to-left, arabic, hebrew, persian, farsi, urdu, mirrored, mirroring,
    bidi, bidirectional, dir attribute, logical properties, wrong side`,
  "clock and zones": `timezone, time zone, timezones, utc, dst, daylight saving, summer time, clock change, an hour
    off, one hour off, hour early, hour late, off by an hour, wrong day, day before, day off, midnight, local time,
    offset, zoneddatetime, instant, moment-timezone, luxon, date-fns, tzdata, berlin time, new york time, shifted by,
    leap year, leap second, week numbers, calendar week, cutoff`,
  "number writing": `thousands separator, decimal comma, decimal point, comma instead of, number format, currency
    format, intl, numberformat, parse number, locale format, 1.000, group separator, percent format`,
  "finding the way": `navigation, menu, menus, breadcrumb, sidebar, back button, go back, browser back, deep link,
    deeplink, url state, router, routing, tabs, tab bar, nav bar, navbar, lost in the app, can't find, sitemap,
    redirect, history api, bookmarkable`,
  "tables on screen": `table, data table, grid, data grid, ag-grid, column, columns, column width, sortable, sort
    order, sticky header, frozen column, row selection, bulk select, pagination, page through, csv of the table,
    resize columns, pivot, cells, reorder columns, filter row`,
  spreadsheets: `spreadsheet, sheet, sheets, cell, cells, formula, formulas, formula engine, recalculate,
    recalculation, recalc, referenced cell, dependency graph, dirty propagation, excel, xlsx, google sheets, cell
    reference, circular reference, pivot table, sum formula, worksheet`,
  charts: `chart, charts, graph, plot, bar chart, bars, line chart, pie, histogram, axis, axes, legend, tooltip on
    chart, d3, echarts, chart.js, highcharts, recharts, plotly, stacked, sparkline, timeline, annotate, series,
    dashboard tile, heatmap, visualisation, visualization, data points, curves`,
  "maps on screen": `map, maps, marker, markers, cluster markers, tiles, mapbox, leaflet, openlayers, google maps,
    geojson, zoom level, latitude, longitude, coordinates, polygon, geocoding, geocode, address lookup, reverse
    geocoding, layer, overlay, position on the map, street view, pin, pins, projection, wgs84, postgis`,
  "pictures too heavy": `image size, heavy images, huge photos, compress images, webp, avif, srcset, responsive
    images, thumbnail, thumbnails, image resizer, resize, resizing, image optimisation, cdn images, blurry, pixelated,
    retina, sharp library, imagemagick, photo quality, megapixel, low resolution`,
  "photos sideways": `rotated photo, rotated, sideways, upside down, exif, orientation, mirrored, rotate image, 90
    degrees, portrait photos, wrong way round, flipped, turned`,
  uploads: `upload, uploads, uploading, file upload, attach, attachment, attachments, max size, upload limit, file too
    large, file size, multipart, chunked upload, resumable, tus, presigned, presigned url, drag and drop, dropzone,
    progress bar, upload fails, size limit, megabytes, max_upload, body size, 413, big files, bytes`,
  "printed pages": `print, printed, printing, printer, printout, paper, page break, print css, print styles,
    landscape, a4, a5, letterhead, cut off when printing, pdf layout, margins, second page, page 2, header on every
    page, toner, print preview, stylesheet for paper`,
  "making pdfs": `pdf, pdfs, pdf generation, pdf export, wkhtmltopdf, puppeteer, pdfkit, weasyprint, render pdf, font
    embedding, font missing, acroform, pdf viewer, bounding boxes, pdf/a, merge pdf, report pdf, latex, logo is gone`,
  "text editor": `editor, rich text, wysiwyg, prosemirror, tiptap, quill, slate, lexical, ckeditor, tinymce,
    formatting lost, paste from word, toolbar, bold, cursor jumps, caret, selection, undo, redo, undo stack, markdown,
    mentions, code block, contenteditable`,
  "editing together": `collaborative editing, at the same time, simultaneously, at once, two people, two colleagues,
    two editors, two users, concurrent edit, conflict, conflicts, overwrites, overwritten, last write wins, lost
    update, slower one wins, text is gone, optimistic locking, optimistic lock, version column, etag, if-match, merge
    dialog, stale save, stale saves, crdt, yjs, automerge, operational transform, ot, presence, cursors of others,
    locking, lock record, stepping on each other, someone else's changes`,
  "offline work": `offline, without internet, no connection, no network, no signal, bad reception, tunnel, basement,
    airplane mode, sync later, sync, resync, conflict resolution, service worker, indexeddb, local database, queue
    changes, outbox, pouchdb, couchdb, watermelondb, offline-first, pwa, cache first, workbox, background sync, back
    online, connectivity, sync conflict`,
  "undo deletion": `bring back, threw away, thrown away, trash, recycle bin, bin, restore, undelete, soft delete,
    soft-delete, deleted_at, deleted by accident, accidentally deleted, recover deleted, purge, purge job, 30 days,
    tombstone, archive instead, paranoid, get it back, permanently deleted, paranoia, retention`,
  "drag things": `drag and drop, drag, dragging, drop zone, reorder, sortable, move cards, kanban, kanban board, dnd,
    dnd-kit, sort by hand, rearrange, tree drag, ghost image, handle`,
  "moving pictures": `animation, animations, animate, transition, easing, flip animation, lottie, framer motion, gsap,
    keyframes, smooth, smoothly, fade, slide in, carousel, slides, slider, parallax, reduced motion, motion sickness,
    spinner, loader, progress indicator`,
  "looks of things": `design, restyle, redesign, css, style, styles, font, fonts, rounded corners, border radius,
    spacing, margin, padding, alignment, aligned, not aligned, figma, design system, storybook, sketch, button style,
    icon, icons, favicon, logo, brand colours, brand colors, shadow, hover, tailwind, sass, bem, css modules, class
    names, look and feel, ugly, polish, footer, header`,
  "empty state": `empty state, nothing to show, no data yet, placeholder, skeleton, zero state, first use, blank page,
    loading state, spinner forever, error state, fallback screen`,
  "first steps in the app": `onboarding, onboarding carousel, welcome screen, tour, product tour, walkthrough, first
    start, first run, wizard, getting started, tips, coach marks, setup wizard, tutorial, new users drop off`,
  "in search engines": `seo, google, search engine, search engines, sitemap, robots.txt, canonical, meta description,
    structured data, schema.org, json-ld, crawl, crawler, crawlers, indexed by google, ranking in google, open graph,
    social preview, link preview, twitter card, 404 pages, redirects, hreflang, prerender, ssr, server-side rendering`,
  "battery drain": `battery, battery drain, drains, drain, eats battery, juice, phone gets hot, gets hot, hot phone,
    overnight, power hungry, wakelock, wake lock, wakeups, wakeup, background location, location polling, gps polling,
    continuous gps, location updates, significant-change, polling interval, background fetch, doze, battery usage,
    energy impact, minimized, minimised, in the background, nobody opens, foreground service, throttle, ble scan,
    percent per hour, charge lasts`,
  "app won't open": `crash on start, crash at launch, crashes on start, after start, app dies, closes itself, closes
    immediately, won't open, does not open, launch crash, splash screen, startup crash, crashlytics, anr, white
    screen, proguard, r8, missing class, missing dylib, cold start, starts slowly, launch time, application oncreate,
    startup time, opening takes`,
  "push messages": `push, push notification, push notifications, push texts, apns, fcm, firebase, onesignal,
    notification permission, device token, badge count, badge, silent push, tapping a notification, deep link from
    push, not notified, nobody gets notified, notification channel, quiet hours, do not disturb, unread, unread count,
    unread messages, inbox icon`,
  "phone parts": `camera, flashlight, microphone, fingerprint, face id, biometric, biometrics, nfc, bluetooth,
    gyroscope, compass, vibration, rumble, haptics, haptic, proximity, barcode scan, qr code, qr scanner, scanner,
    sim, volume buttons, notch`,
  "phone apps": `ios, iphone, ipad, swift, swiftui, uikit, xcode, cocoapods, android, kotlin, jetpack compose, gradle,
    play store, app store, testflight, fastlane, react native, expo, flutter, dart, capacitor, cordova, ionic, mobile
    app, tablet, tablets, apk, aab, ipa, provisioning, app review, store screenshots, mobile client, native bridge,
    native module, deep link, wear, watch app, complication, widget, widgetkit`,
  "desktop apps": `electron, tauri, qt, wpf, winforms, installer, msi, dmg, auto-update, updater, tray icon, system
    tray, notarize, notarise, code signing, window position, multi monitor, monitors, 4k, dpi, scaling, taskbar, task
    bar, title bar, kiosk mode, desktop client, macos app, windows app, deb package, snap, flatpak, clipboard`,
  "keys pressed": `keyboard, key press, keypress, key pressed, pressed state, keydown, keyup, key is stuck, stuck key,
    hotkey, hotkeys, shortcut, shortcuts, key bindings, keybindings, alt-tab, alt-tabbing, loses focus, window focus,
    focus lost, input handling, gamepad, controller, enter key, arrow keys, modifier, rebind`,
  "settings page": `settings, preferences, settings screen, options page, configurable, user preferences,
    userdefaults, sharedpreferences, playerprefs, remember the choice, remember my, remembers, persist setting,
    toggle, saved filter, column widths, default view, customise, personalise`,
  "browser plugins": `browser extension, chrome extension, firefox addon, manifest v3, content script, background
    script, popup page, addon, web store, permissions of the extension, tampermonkey`,
  "site content": `cms, content, wordpress, contentful, strapi, sanity, drupal, typo3, magento, shopify, plugin, theme
    of the shop, block editor, page builder, markdown pages, static site, hugo, jekyll, gatsby, astro, docusaurus,
    copy text, stock photos, landing page, landing, wording, copywriting, tone of voice, terms, imprint, legal text`,
  "old browsers": `old browser, old browsers, internet explorer, ie11, old ipad, old safari, polyfill, polyfills,
    browserslist, transpile target, es5, unsupported browser, legacy browser, looks broken on, old phones, old
    devices, low-end, older iphones, babel target`,
  "writing far eastern scripts": `ime, composition, compositionend, korean, japanese input, chinese input, pinyin,
    kana, half a syllable, enter submits too early, cjk, hangul, vertical text`,
  "names with marks": `apostrophe, apostrophes, hyphenated names, o'brien, unaccent, accent-insensitive, accents
    ignored, collation, case-insensitive, icu folding, fold accents, special names, without accent, müller,
    transliterate`,
  "addresses of the world": `address form, postcode, postal code, zip code, state field, address format, street, house
    number, house numbers, house numbers with letters, address autocomplete, country select, delivery address, change
    address, billing address, address validation, wrong address`,
  "phone numbers": `phone number, phone numbers, e.164, libphonenumber, country code, dial code, leading zero, number
    normalisation, find by phone, mobile number`,
  "long texts cut": `truncated, truncate, ellipsis, cut off, cut-off, long titles, long names, line clamp, text
    overflow, wraps, label overlap, overlapping labels, axis labels, overlaps, ticks, unreadable labels`,
  "colours washed out": `washed out, colour profile, color profile, srgb, display p3, icc, gamma, pale colours, hdr
    photo, colour grading, lut, look up table, faded, too dark, too bright picture`,
  "dead links": `broken link, broken links, dead links, old links, lead nowhere, 404, not found page, redirect map,
    slug, slugs, slug history, permalinks, link checker, moved pages, 301, url structure`,
  "small print": `terms, legal notice, imprint, cookie policy, privacy policy text, consent text, agb, disclaimer,
    footer links, copyright year, copyright`,
  "help in the app": `help text, tooltips, info icon, faq, faq page, help centre, contact form, contact page, feedback
    button, report a problem, bug report form, support link, release banner, what's new`,
  "notifications too many": `too many notifications, notification settings, digest, daily digest, quiet hours, at
    night, mute, unsubscribe, preferences centre, batching notifications, annoying messages, frequency cap, spam our
    users, notification fatigue, bell icon, notification centre`,
  "copying values": `copy to clipboard, clipboard, copy button, paste, share button, share sheet, share link, qr code,
    deep link, invite friends, embed code, iframe, embed, widget on other sites`,
  "buying in the app": `in-app purchase, in-app purchases, storekit, play billing, restore purchases, receipt
    validation, parental gate, consumables, paywall, store rejected, app rejected, rejected by apple, privacy
    manifest, tracking transparency, att, guideline, app review, revenuecat`,
  "which version": `about dialog, version number, build number, which version, force update, forced update, minimum
    version, update prompt, outdated app, upgrade prompt, changelog popup`,
  "picking dates": `date picker, datepicker, calendar widget, date range, range picker, first day of week, monday or
    sunday, time picker, due date, date input, calendar popup, month view`,
  "choosing from many": `dropdown, select, combobox, autocomplete, multi-select, long list of options, country list,
    tag input, chips, checkbox, radio, switch, select all, tree view, tree, folder explorer, expanding a node, nested
    list, expand, collapse, collapsible, 10k children, virtualize, accordion`,
  "wizards and steps": `multi-step, stepper, wizard, questionnaire, save after every step, form steps, progress of the
    form, next button, conditional fields, dynamic form, form builder, survey form, repeatable section`,
  "seeing before doing": `preview, live preview, confirm before, are you sure, confirmation, dry run, undo toast,
    accidental click, misclick, dangerous button, destructive, delete button, undo button`,
  "remote pictures": `image upload, avatar upload, crop avatar, cropped, cropped badly, face crop, gravatar, image
    picker, photo per, gallery, image gallery, lightbox, zoom, pinch, pinch zoom, alt image, picture missing, broken
    images, placeholder image`,
  "typing is slow": `typing lags, letters appear late, input lag, keystrokes, debounce, debounced, search as you type,
    input delay, slow typing, autocomplete slow, every keystroke, cursor lags`,
  "wrong on refresh": `after reload, after refresh, f5, reload loses, state lost, back to start, forgets filter,
    filter in the url, query string, restore scroll, remembers filter, url parameters, deep linkable`,
  "tables on phones": `table on mobile, horizontal scroll, cards instead of rows, too wide, column priority, wide
    tables, squeezed table`,
  "who is online": `online status, last seen, presence, green dot, typing indicator, active now, away status,
    heartbeat, last login`,
  "saving money on screens": `loading spinner, skeleton, optimistic update, instant feedback, feels slow, perceived
    performance, waits for server, button does nothing, nothing happens, no feedback, double tap, disabled while
    saving`,
  "reading comfort": `line length, line height, reading mode, font choice, dyslexia, typography, headings, hierarchy,
    whitespace, article layout, justified, hyphenation`,
  "video on the page": `video embed, autoplay, youtube embed, vimeo, poster image, video controls, picture in picture,
    fullscreen, captions button, player controls`,
  "voices for screens": `alt texts, headings order, landmarks, semantic html, form labels, label for input, announce
    errors, aria-live, screenreader, reads out, read out loud, says only button`,
  "counting visits": `analytics, page views, matomo, plausible, tracking event, events are tracked, utm parameters,
    cookie banner blocks, bounce rate, heatmap, session replay, hotjar, posthog, amplitude, mixpanel`,
};
