extension Array where Element == String {
    /// The places of names, in the order of the names.
    ///
    /// The few names of a row are put in order where their places lie: it is done twice for each change that is sent.
    var placesInOrder: [Int] {
        var places = [Int](indices)
        guard count <= 24 else {
            places.sort { self[$0] < self[$1] }
            return places
        }
        for place in places.indices.dropFirst() {
            var position = place
            while position > 0, self[place] < self[places[position - 1]] {
                places[position] = places[position - 1]
                position -= 1
            }
            places[position] = place
        }
        return places
    }
}
